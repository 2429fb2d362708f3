/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of a process on another machine: they are made there, where its memory is; only the
 * request and the outcome (scan_outcome.h) are sent. Main thread.
 */
#ifndef SRC_SCAN_SCAN_FAR_H
#define SRC_SCAN_SCAN_FAR_H

#include "src/far/order.h"
#include "src/leak/scan_options.h"
#include "src/scan/scan_outcome.h"

/* 0, or -errno; -EPERM: the agent may only read. */
int scan_far_begin(const struct far_order *f, const struct leak_scan_options *request);
/* What that says, in one line. */
const char *scan_far_why(int rc);
/* True: the scan has ended, with this outcome. */
bool scan_far_take(const struct far_order *f, int timeout_ms, struct leak_progress *progress,
	struct scan_outcome *o);
/* Waits for a whole scan, or for its end once `request->progress` is cancelled. */
void scan_far_run(
	const struct far_order *f, const struct leak_scan_options *request, struct scan_outcome *o);

#endif
