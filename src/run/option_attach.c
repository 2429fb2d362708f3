/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that name running processes (option_attach.h). */
#include "src/run/option_attach.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/units.h"

/* A minute of one core is no safe point any more; an hour lets a program come out of a computation.
 */
#define TIMEOUT_MAX_NS UINT64_C(3600000000000)
#define NAME_MAX_BYTES 4096u

static int refuse(struct option_error *why, const char *text)
{
	snprintf(why->text, sizeof(why->text), "%s", text);
	return -EINVAL;
}

/* The pid at *at, and *at behind it and a comma. 0: none is there. */
static pid_t pid_take(const char **at)
{
	char *end;
	unsigned long n;

	if (**at < '0' || **at > '9')
		return 0;
	errno = 0;
	n = strtoul(*at, &end, 10);
	if (errno || n > INT_MAX || (*end && (*end != ',' || !end[1])))
		return 0;
	*at = *end ? end + 1 : end;
	return (pid_t)n;
}

static bool is_known(const struct options_attach *a, pid_t pid)
{
	for (unsigned i = 0; i < a->count; i++)
		if (a->pids[i] == pid)
			return true;
	return false;
}

static int pids_take(struct options_attach *a, const char *value, struct option_error *why)
{
	for (const char *at = value; *at;) {
		pid_t pid = pid_take(&at);

		if (pid <= 0)
			return refuse(why, "must be process IDs (12,15), or one name");
		if (is_known(a, pid))
			continue;
		if (a->count == OPTIONS_PIDS_MAX) {
			snprintf(why->text, sizeof(why->text), "takes %u processes at most",
				OPTIONS_PIDS_MAX);
			return -EINVAL;
		}
		a->pids[a->count++] = pid;
	}
	return a->count ? 0 : refuse(why, "must be a process ID");
}

static int name_take(struct options_attach *a, const char *value, struct option_error *why)
{
	if (!*value || strlen(value) >= NAME_MAX_BYTES)
		return refuse(why, "must be a process ID, or the name of a program");
	a->name = value;
	return 0;
}

int option_attach_process(struct options *o, const char *value, struct option_error *why)
{
	int rc = 0;

	o->attach.name = NULL;
	o->attach.count = 0;
	o->attach.choose = value == NULL;
	o->attach.text = value;
	if (value && *value >= '0' && *value <= '9')
		rc = pids_take(&o->attach, value, why);
	else if (value)
		rc = name_take(&o->attach, value, why);
	if (rc)
		return rc;
	o->pid = o->attach.count ? o->attach.pids[0] : 0;
	return option_values_mode(o, OPTIONS_ATTACH, why);
}

int option_attach_wait(struct options *o, const char *value, struct option_error *why)
{
	int rc = name_take(&o->attach, value, why);

	if (rc || o->mode == OPTIONS_ATTACH)
		return rc ? rc : refuse(why, "not with -a: it names the process itself");
	o->attach.wait = true;
	return option_values_mode(o, OPTIONS_ATTACH, why);
}

int option_attach_timeout(struct options *o, const char *value, struct option_error *why)
{
	uint64_t ns;

	if (units_parse_duration(value, &ns) || ns == 0 || ns > TIMEOUT_MAX_NS)
		return refuse(why, "must be a time, one hour at most (\"90s\", \"5m\")");
	o->attach.timeout_ns = ns;
	return 0;
}

int option_attach_detach(struct options *o, const char *value, struct option_error *why)
{
	int rc;

	o->attach.name = NULL;
	o->attach.count = 0;
	rc = *value >= '0' && *value <= '9' ? pids_take(&o->attach, value, why)
					    : name_take(&o->attach, value, why);
	return rc ? rc : option_values_mode(o, OPTIONS_DETACH, why);
}

int option_attach_save(struct options *o, const char *value, struct option_error *why)
{
	o->save = value;
	if (*value)
		return 0;
	snprintf(why->text, sizeof(why->text), "must be a file");
	return -1;
}

/* A call site is named as for --trace, which excludes this. */
int option_attach_sizes(struct options *o, const char *value, struct option_error *why)
{
	bool trace = o->trace;
	int rc = option_values_trace(o, value, why);

	o->trace = trace;
	o->sizes = true;
	o->sizes_site = o->trace_site;
	return rc;
}

bool option_attach_tree(struct options *o, const char *word)
{
	struct option_error why;

	if (o->mode != OPTIONS_NONE || !*word || strspn(word, "0123456789") != strlen(word) ||
		option_attach_process(o, word, &why))
		return false;
	o->tree = false;
	o->attach.descendants = true;
	return true;
}
