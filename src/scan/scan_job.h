/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One leak scan in a thread of its own, so that the main thread stays responsive, or on another
 * machine. The main thread makes all calls.
 */
#ifndef SRC_SCAN_SCAN_JOB_H
#define SRC_SCAN_SCAN_JOB_H

#include "src/leak/scan.h"
#include "src/scan/leak_summary.h"

struct scan_job;

/* Starts a scan of the process whose segment is at `path`, which it opens anew. Ignores progress
 * and hold of the request. `hold`: a process that is scanned at its last instant stays there. NULL
 * with errno set. */
struct scan_job *scan_job_start(
	const char *path, const struct leak_scan_options *request, bool hold);
/* Readable once the scan has ended. */
int scan_job_fd(const struct scan_job *j);
bool scan_job_ended(struct scan_job *j);
const struct leak_progress *scan_job_progress(const struct scan_job *j);
/* Cancels the scan: it ends soon, without a result. */
void scan_job_cancel(struct scan_job *j);
bool scan_job_cancelled(const struct scan_job *j);
/* Waits for the end. The caller owns the result; NULL: out of memory. */
struct leak_summary *scan_job_take(struct scan_job *j);
/* Whether the process is held, until scan_job_free. After scan_job_take. */
bool scan_job_holds(const struct scan_job *j);
/* Releases a held process, waits for the thread, and frees the job. `j` may be NULL. */
void scan_job_free(struct scan_job *j);

#endif
