/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One leak scan by a thread of its own, so that the main thread goes on meanwhile. All calls are
 * the main thread's.
 */
#ifndef SRC_SCAN_SCAN_JOB_H
#define SRC_SCAN_SCAN_JOB_H

#include "src/leak/scan.h"
#include "src/scan/leak_summary.h"

struct scanjob;

/* Begins a scan of the process whose segment is at `path`; it opens that anew. Of the wish all but
 * progress and hold counts. `hold`: a process that is scanned at its last instant stays there. NULL
 * with errno set. */
struct scanjob *scanjob_start(const char *path, const struct leak_wish *wish, bool hold);
/* Readable once the scan has ended. */
int scanjob_fd(const struct scanjob *j);
bool scanjob_ended(const struct scanjob *j);
const struct leak_progress *scanjob_progress(const struct scanjob *j);
/* The scan ends soon, and has no result. */
void scanjob_cancel(struct scanjob *j);
bool scanjob_cancelled(const struct scanjob *j);
/* Waits for the end. The caller owns the result; NULL without memory. */
struct leakcheck *scanjob_take(struct scanjob *j);
/* Whether the process is held: it waits for scanjob_free. After scanjob_take. */
bool scanjob_holds(const struct scanjob *j);
/* Lets a process go that is held, waits for the thread, and frees the job. `j` may be NULL. */
void scanjob_free(struct scanjob *j);

#endif
