/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines as tests give them: the result of a parse, and what it wrote. */
#ifndef TESTS_UNIT_OPTIONS_FIXTURE_H
#define TESTS_UNIT_OPTIONS_FIXTURE_H

#include <stdlib.h>
#include "src/run/options.h"
#include "tests/check.h"

#define ARGS_MAX 32

/* One parse: its result, and what it wrote. */
struct parsed {
	int status;
	struct options o;
	char out[8192], err[1024];
};

static inline struct parsed parse(const char *const *args)
{
	static char *argv[ARGS_MAX + 2];
	static struct parsed p;
	char *out, *err;
	size_t out_len, err_len;
	FILE *out_stream = open_memstream(&out, &out_len);
	FILE *err_stream = open_memstream(&err, &err_len);
	int argc = 0;

	argv[argc++] = (char *)(uintptr_t) "heaptop";
	while (*args && argc <= ARGS_MAX)
		argv[argc++] = (char *)(uintptr_t)*args++;
	argv[argc] = NULL;
	p.status = options_parse(argc, argv, &p.o, out_stream, err_stream);
	fclose(out_stream);
	fclose(err_stream);
	snprintf(p.out, sizeof(p.out), "%s", out);
	snprintf(p.err, sizeof(p.err), "%s", err);
	free(out);
	free(err);
	return p;
}

#define PARSE(...)	parse((const char *const[]){ __VA_ARGS__, NULL })
#define PARSE_NOTHING() parse((const char *const[]){ NULL })

/* Refused with status 2 and exactly one line, which says `part` and where to read on. */
static inline int refused(struct parsed p, const char *part)
{
	const char *newline = strchr(p.err, '\n');
	int good = p.status == OPTIONS_EXIT_USAGE && !strncmp(p.err, "heaptop: ", 9) && newline &&
		   !newline[1] && strstr(p.err, part) && strstr(p.err, "; try heaptop --help\n") &&
		   !p.out[0];

	if (!good)
		fprintf(stderr, "  status %d, want \"%s\" in: %s\n", p.status, part, p.err);
	return good;
}

#endif
