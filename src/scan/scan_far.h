/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of a process on another machine: they are made there, where its memory is; only the
 * request and the outcome (scan_outcome.h) are sent. Main thread.
 */
#ifndef SRC_SCAN_SCAN_FAR_H
#define SRC_SCAN_SCAN_FAR_H

#include "src/leak/scan_options.h"
#include "src/scan/scan_outcome.h"
#include "src/util/bytes.h"

/* The way there. One scan at a time. */
struct scan_far {
	void *ctx;
	/* Asks for a scan; one before it is forgotten. 0 or -errno. */
	int (*begin)(void *ctx, const struct bytes *request);
	void (*cancel)(void *ctx);
	/*
	 * Takes what has come, or waits for it `timeout_ms` at most. 1: the scan has ended, and its
	 * outcome is in `answer` until the next call; 0: not yet; or -errno and one line in `why`,
	 * which is valid as long.
	 */
	int (*take)(void *ctx, int timeout_ms, struct leak_progress *progress,
		struct bytes_cursor *answer, const char **why);
	/* Readable when there may be something to take. */
	int (*fd)(void *ctx);
};

/* 0, or -errno; -EPERM: the agent may only read. */
int scan_far_begin(const struct scan_far *f, const struct leak_scan_options *request);
/* What that says, in one line. */
const char *scan_far_why(int rc);
/* True: the scan has ended, with this outcome. */
bool scan_far_take(const struct scan_far *f, int timeout_ms, struct leak_progress *progress,
	struct scan_outcome *o);
/* Waits for a whole scan, or for its end once `request->progress` is cancelled. */
void scan_far_run(
	const struct scan_far *f, const struct leak_scan_options *request, struct scan_outcome *o);

#endif
