/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans for reports and frames, as --leak-check asks for them: one, or one every so often,
 * each of which is told when it is there. Main thread.
 */
#ifndef SRC_RUN_LEAK_REQUEST_H
#define SRC_RUN_LEAK_REQUEST_H

#include "src/run/run.h"

/* Before the first look. `fd`: where the report or the frames go, and, if these are text, what each
 * of many scans found; else that goes to stderr. */
void leak_request_begin(struct run *r, int fd);
/* Scans that are under way are to end: a signal has come, and the program may have stood still long
 * enough. */
void leak_request_cancel(struct run *r);
/*
 * To be called often. A COMMAND that waits at its end is let go on, and scanned at its last instant
 * in a thread; what is attached to
 * is scanned now, or when the next scan of many is due, in a thread.
 */
void leak_request_make(struct run *r);
/* run_final, with what the last scan found, or why there was none. */
struct snapshot *leak_request_final(struct run *r);
/* When no snapshot is held any more. */
void leak_request_free(struct run *r);

#endif
