/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan of a running process, from outside: reads the live table and the memory of one
 * instant, lets the process go on, and then finds the blocks to which nothing points. Any
 * thread. A thread of its own stops the process, and the call waits for it (stop.h says why).
 */
#ifndef SRC_LEAK_SCAN_H
#define SRC_LEAK_SCAN_H

#include "src/leak/access/progress.h"
#include "src/leak/analysis/result.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/scan_options.h"
#include "src/read/read.h"

/* 0, or -errno with one line in `message` (TRACE_MESSAGE_MAX) that says why; -ECANCELED if
 * `request->progress` was cancelled. */
int leak_scan(struct read_segment *segment, const struct leak_scan_options *request,
	struct leak_result *out, char *message);
#endif
