/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of --diff, loaded and compared. Main thread. */
#ifndef SRC_RUN_DIFF_RUN_H
#define SRC_RUN_DIFF_RUN_H

#include "src/diff/diff.h"
#include "src/run/options.h"

struct diff_run;

/* NULL after one line on stderr. */
struct diff_run *diff_run_open(const struct options *o);
void diff_run_free(struct diff_run *r);
/* The diff's; valid until diff_run_free. */
const struct diff *diff_run_diff(const struct diff_run *r);
/* It as a snapshot (src/diff/diff_snapshot.h), with a notice: one reference, the caller's, to be
 * dropped before the diff. NULL after one line on stderr. */
struct snapshot *diff_run_snapshot(struct diff_run *r, const struct options *o);

#endif
