/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of a launch with several processes (src/export/launch.h). Main thread. */
#ifndef SRC_RUN_LAUNCH_REPORT_H
#define SRC_RUN_LAUNCH_REPORT_H

#include "src/export/export.h"
#include "src/model/merged.h"
#include "src/run/process_tree.h"
#include "src/run/selection.h"

struct launch_report {
	struct export_launch out;
	/* The rest is private to launch_report.c. */
	struct process_row *row; /* owned */
	struct merged *merged;
	struct snapshot *sum;
	struct selection selection;
};

/*
 * The processes of the launch and, if `s` has children, the sum of it and all of them. NULL: it is
 * one process; or, without memory, as if it were. Else `r->out`, valid until launch_report_free,
 * which is fine in either case.
 */
const struct export_launch *launch_report_make(struct launch_report *r,
	const struct process_tree *w, const struct snapshot *s, const struct options *o);
void launch_report_free(struct launch_report *r);

#endif
