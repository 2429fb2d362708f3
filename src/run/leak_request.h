/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans for reports and frames, as --leak-check asks: one scan, or repeated ones, each printed
 * when it ends. Main thread.
 */
#ifndef SRC_RUN_LEAK_REQUEST_H
#define SRC_RUN_LEAK_REQUEST_H

#include "src/leak/scan.h"
#include "src/memory/resident.h"
#include "src/run/run.h"

struct leak_request;

/*
 * `fd`: the output of the report or frames; repeated scans are printed there if it is text, else on
 * stderr. `progress`: of scans that the main thread waits for. `resident`: is read while the
 * program stands still. NULL without memory.
 */
struct leak_request *leak_request_new(
	struct run *r, int fd, struct leak_progress *progress, struct resident *resident);
/* When no snapshot is held any more, before run_close. */
void leak_request_free(struct leak_request *q);
/*
 * To be called often. Lets a COMMAND that waits at its end go on, and scans it at its last instant
 * in a thread; scans an attached process now, or, when the next of many scans is due, in a thread.
 */
void leak_request_make(struct leak_request *q);
/* Readable when leak_request_make has a result to take: fills at most `max`, returns how many. */
int leak_request_fds(const struct leak_request *q, struct pollfd *fds, int max);
/* Cancels the scans that are under way: a signal has come, and the program may have stood still
 * long enough. */
void leak_request_cancel(struct leak_request *q);
/* run_final, with what the last scan found, or why there was none. */
struct snapshot *leak_request_final(struct leak_request *q);

#endif
