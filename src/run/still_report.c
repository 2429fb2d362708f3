/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r of a JSON report, with a report or a frame (still_report.h). Main thread. */
#include "src/run/still_report.h"

#include <unistd.h>
#include "src/run/failure.h"
#include "src/run/load.h"
#include "src/run/output_file.h"
#include "src/run/report.h"
#include "src/run/verdict.h"

static int put(int fd, const struct snapshot *s, const struct options *o)
{
	char verdict[VERDICT_MAX];
	const struct report_parts parts = { .verdict = verdict_text(s, o, true, verdict) };

	return o->batch && !o->format_given ? report_frame_put(fd, s, o)
					    : report_put(fd, s, o, &parts);
}

int still_report_run(const struct options *o)
{
	struct snapshot *s = load_open(o->file, o);
	int fd = s ? output_file_open(o, STDOUT_FILENO) : -1;
	int rc = fd < 0 ? FAILURE_EXIT : put(fd, s, o);

	if (rc == 0)
		rc = verdict_exit(s, o);
	snapshot_unref(s);
	return rc;
}
