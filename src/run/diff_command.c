/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --diff (diff_command.h). Main thread. */
#include "src/run/diff_command.h"

#include <stdio.h>
#include <unistd.h>
#include "src/export/export_diff.h"
#include "src/run/diff_run.h"
#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/report.h"

#define EXIT_FAIL_ON 1 /* --fail-on found what it looks for */

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

static int judge_and_put(int fd, const struct diff *d, const struct options *o)
{
	struct strbuf verdict = STRBUF_INIT;
	bool failed;
	int rc;

	rc = diff_put(fd, d, o, judge(d, o, &failed, &verdict) ? strbuf_text(&verdict) : NULL);
	if (rc == 0 && failed) {
		fprintf(stderr, "heaptop: exit status 1 because of --fail-on: %s\n",
			strbuf_text(&verdict) + sizeof("failed: ") - 1);
		rc = EXIT_FAIL_ON;
	}
	strbuf_free(&verdict);
	return rc;
}

int diff_command_run(const struct options *o)
{
	struct diff_run *r = diff_run_open(o);
	int fd = r ? output_file_open(o, STDOUT_FILENO) : -1;
	int rc = fd < 0 ? FAILURE_EXIT : judge_and_put(fd, diff_run_diff(r), o);

	diff_run_free(r);
	return rc;
}
