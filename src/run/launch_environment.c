/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's environment (launch_environment.h). */
#include "src/run/launch_environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/allocator_rule.h"
#include "src/run/failure.h"

#define LINE_MAX_BYTES 4096
#define NONE	       "none" /* no allocator is to be found in the program */

static bool is_file(const struct options *o)
{
	return o->allocators && strcmp(o->allocators, NONE) != 0;
}

static int print_wrong(const char *file, unsigned line, const char *why)
{
	static char message[PATH_MAX + 256];

	snprintf(message, sizeof(message), "%s:%u: %s", file, line, why);
	return failure_print(message);
}

int launch_environment_check(const struct options *o)
{
	static char line[LINE_MAX_BYTES];
	struct allocator_rule rule;
	const char *why;
	int rc = 0;
	FILE *f;

	if (!is_file(o))
		return 0;
	f = fopen(o->allocators, "re");
	if (!f)
		return failure_print_errno("cannot read the file of --allocators", errno);
	for (unsigned n = 1; fgets(line, sizeof(line), f); n++) {
		why = allocator_rule_read(line, strcspn(line, "\n"), &rule);
		if (why)
			rc = print_wrong(o->allocators, n, why);
	}
	fclose(f);
	return rc;
}

/* The program may be in another folder by the time it reads the file. */
const char *launch_environment_allocators(const struct options *o)
{
	static char path[PATH_MAX];

	if (!is_file(o))
		return o->allocators;
	return realpath(o->allocators, path);
}

static const char *allocators_variable(const struct options *o)
{
	static char text[PATH_MAX + 32];
	const char *what = launch_environment_allocators(o);

	if (!what)
		return NULL;
	snprintf(text, sizeof(text), "HEAPTOP_ALLOCATORS=%s", what);
	return text;
}

const char *const *launch_environment(const struct options *o)
{
	static const char *const follow[] = { [OPTIONS_FOLLOW_NO] = "HEAPTOP_FOLLOW=0",
		[OPTIONS_FOLLOW_EXEC] = "HEAPTOP_FOLLOW=exec" };
	static const char *all[6];
	unsigned n = 0;

	if (o->follow < sizeof(follow) / sizeof(follow[0]) && follow[o->follow])
		all[n++] = follow[o->follow];
	if (o->allocators)
		all[n++] = allocators_variable(o);
	if (o->free_stacks)
		all[n++] = "HEAPTOP_FREES=1";
	if (o->client_requests)
		all[n++] = "HEAPTOP_REQUESTS=1";
	/* If we were executed by a process that is attached to: it is about another segment. */
	if (getenv("HEAPTOP_ATTACHED"))
		all[n++] = "HEAPTOP_ATTACHED=";
	all[n] = NULL;
	return all;
}
