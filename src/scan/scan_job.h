/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One leak scan by a thread of its own, so that the main thread goes on meanwhile. All calls are
 * the main thread's.
 */
#ifndef SRC_SCAN_SCAN_JOB_H
#define SRC_SCAN_SCAN_JOB_H

#include "src/leak/scan.h"
#include "src/scan/leak_summary.h"

struct scan_job;

/* Begins a scan of the process whose segment is at `path`; it opens that anew. Of the wish all but
 * progress and hold counts. `hold`: a process that is scanned at its last instant stays there. NULL
 * with errno set. */
struct scan_job *scan_job_start(
	const char *path, const struct leak_scan_options *request, bool hold);
/* Readable once the scan has ended. */
int scan_job_fd(const struct scan_job *j);
bool scan_job_ended(const struct scan_job *j);
const struct leak_progress *scan_job_progress(const struct scan_job *j);
/* The scan ends soon, and has no result. */
void scan_job_cancel(struct scan_job *j);
bool scan_job_cancelled(const struct scan_job *j);
/* Waits for the end. The caller owns the result; NULL without memory. */
struct leak_summary *scan_job_take(struct scan_job *j);
/* Whether the process is held: it waits for scan_job_free. After scan_job_take. */
bool scan_job_holds(const struct scan_job *j);
/* Lets a process go that is held, waits for the thread, and frees the job. `j` may be NULL. */
void scan_job_free(struct scan_job *j);

#endif
