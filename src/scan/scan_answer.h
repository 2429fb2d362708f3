/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One leak scan for a heaptop on another machine, in a thread of its own: its outcome as bytes. The
 * main thread makes all calls.
 */
#ifndef SRC_SCAN_SCAN_ANSWER_H
#define SRC_SCAN_SCAN_ANSWER_H

#include "src/leak/access/progress.h"
#include "src/leak/scan_options.h"
#include "src/util/bytes.h"

struct scan_answer;

/* Starts a scan of the process whose segment is at `path`, which it opens anew. NULL and errno. */
struct scan_answer *scan_answer_start(const char *path, const struct leak_scan_options *request);
const struct leak_progress *scan_answer_progress(const struct scan_answer *a);
/* The scan ends soon, and its outcome says that it was cancelled. */
void scan_answer_cancel(struct scan_answer *a);
/* Once the scan has ended: what scan_outcome_get reads; NULL: it goes on. */
const struct bytes *scan_answer_bytes(const struct scan_answer *a);
/* Cancels it, and waits until the process is released. `a` may be NULL. */
void scan_answer_free(struct scan_answer *a);

#endif
