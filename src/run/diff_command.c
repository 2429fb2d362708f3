/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --diff (diff_command.h). Main thread. */
#include "src/run/diff_command.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "src/diff/diff.h"
#include "src/export/export_diff.h"
#include "src/run/failure.h"
#include "src/run/load.h"
#include "src/run/output_file.h"
#include "src/run/report.h"

#define EXIT_FAIL_ON 1 /* --fail-on found what it looks for */

struct sides {
	struct snapshot *run[2][DIFF_RUNS_MAX];
	size_t count[2];
};

static void sides_drop(struct sides *s)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < s->count[side]; i++)
			snapshot_unref(s->run[side][i]);
}

/* 0, or after one line on stderr the exit status. What was loaded stays. */
static int sides_load(struct sides *s, const struct options *o)
{
	char message[LOAD_MESSAGE_MAX];

	for (int side = 0; side < 2; side++)
		for (unsigned i = 0; i < o->diff[side].count; i++) {
			struct snapshot *run = load_open(o->diff[side].file[i], o, message);

			if (!run)
				return failure_print(message);
			s->run[side][s->count[side]++] = run;
		}
	return 0;
}

/* Without the composition of some run's peak, sites are compared by their own peaks. */
static enum snap_value value_known_to_all(const struct sides *s, enum snap_value value)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < s->count[side]; i++)
			if (!value_known(&s->run[side][i]->totals, value))
				return VALUE_OWN_PEAK;
	return value;
}

static struct diff *sides_compare(const struct sides *s, enum snap_value value)
{
	return diff_make((const struct snapshot *const *)s->run[0], s->count[0],
		(const struct snapshot *const *)s->run[1], s->count[1],
		value_known_to_all(s, value));
}

/* What --fail-on makes of it: "failed: " and the limits that are passed, or "passed: " and all.
 * False without --fail-on. */
static bool judge(
	const struct diff *d, const struct options *o, bool *failed, struct strbuf *verdict)
{
	char line[CONDITION_LINE_MAX];
	const char *between;

	*failed = false;
	for (unsigned i = 0; i < o->nconditions; i++)
		*failed |= condition_failed_diff(&o->conditions[i], d, line);
	between = *failed ? "failed: " : "passed: ";
	for (unsigned i = 0; i < o->nconditions; i++) {
		if (condition_failed_diff(&o->conditions[i], d, line) != *failed)
			continue;
		strbuf_printf(verdict, "%s%s", between, line);
		between = ", ";
	}
	return o->nconditions > 0;
}

static int diff_put(int fd, const struct diff *d, const struct options *o, const char *verdict)
{
	const struct export_diff x = { d, o->diff[0].file, o->diff[1].file };
	struct strbuf text = STRBUF_INIT;
	struct export_options e;

	report_options(&e, o);
	e.verdict = verdict;
	if (o->format == OPTIONS_JSON)
		export_diff_json(&text, &x, &e);
	else if (o->format == OPTIONS_FOLDED)
		export_diff_folded(&text, &x, &e);
	else
		export_diff_text(&text, &x, &e);
	return output_file_put(fd, &text, o) == 0 ? 0 : FAILURE_EXIT;
}

static int compare_and_put(int fd, const struct sides *s, const struct options *o)
{
	struct diff *d = sides_compare(s, o->value);
	struct strbuf verdict = STRBUF_INIT;
	bool failed;
	int rc;

	if (!d)
		return failure_print_errno("cannot compare", ENOMEM);
	rc = diff_put(fd, d, o, judge(d, o, &failed, &verdict) ? strbuf_text(&verdict) : NULL);
	if (rc == 0 && failed) {
		fprintf(stderr, "heaptop: exit status 1 because of --fail-on: %s\n",
			strbuf_text(&verdict) + sizeof("failed: ") - 1);
		rc = EXIT_FAIL_ON;
	}
	strbuf_free(&verdict);
	diff_free(d);
	return rc;
}

int diff_command_run(const struct options *o)
{
	static struct sides s;
	int rc = sides_load(&s, o), fd = rc == 0 ? output_file_open(o, STDOUT_FILENO) : -1;

	if (rc == 0)
		rc = fd < 0 ? FAILURE_EXIT : compare_and_put(fd, &s, o);
	sides_drop(&s);
	return rc;
}
