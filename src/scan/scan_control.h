/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of a running process for the screen, one at a time, each by a thread of its own, so
 * that the screen goes on meanwhile. Main thread.
 */
#ifndef SRC_SCAN_SCAN_CONTROL_H
#define SRC_SCAN_SCAN_CONTROL_H

#include <poll.h>

#include "src/leak/scan.h"
#include "src/leak/analysis/suppressions.h"
#include "src/scan/leak_summary.h"
#include "src/model/leaks.h"

struct scans;

/*
 * Of the process whose segment is at `path`. Of the wish, all but progress. `owner`: of the
 * snapshots of the same image. NULL without memory.
 */
struct scans *scans_new(const char *path, const struct leak_wish *wish, const void *owner);
/* Ends one that is under way: the process is let go before this returns. */
void scans_free(struct scans *s);
bool scans_is_of(const struct scans *s, const char *path, const void *owner);
/* Begins one. 0, -EBUSY while one is under way, -EALREADY of a process that is held, or another
 * -errno. */
int scans_start(struct scans *s);
/* The process waits at its end: ends a scan that is under way, lets the process go on, and scans it
 * at its last instant, where `hold` keeps it. 0 or -errno: nothing was begun. */
int scans_start_at_exit(struct scans *s, bool hold);
/* Lets a process go that such a scan holds. False: none is held. */
bool scans_release(struct scans *s);
/* Waits until the one that is under way has ended by itself; to be collected. */
void scans_await(struct scans *s);
/* The one that is under way is to end, and has no result. */
void scans_cancel(struct scans *s);
/* The same, but its result is that it failed, for the reason `why`, which is static. */
void scans_give_up(struct scans *s, const char *why);
/* As cancel, and it waits until the process was let go. */
void scans_stop(struct scans *s);
/* Scans so often from now on, the time between the end of one and the next; 0: no more. */
void scans_every(struct scans *s, uint64_t ns);
/* To be called now and then: begins one that is due. */
void scans_look(struct scans *s);
/* Readable when one has ended, and now and then while it is under way: fills at most `max`, returns
 * how many. scans_collect takes it, true if anything is to be shown. */
int scans_fds(const struct scans *s, struct pollfd *fds, int max);
bool scans_collect(struct scans *s);
/* Takes what `rules` match out of the last result, by the names in `snap`, as often as there are
 * names or rules that are new. */
void scans_suppress(struct scans *s, const struct snapshot *snap, const struct suppress *rules);
/* What they would match beside what is suppressed, of a call site and of others (leakcheck.h). */
void scans_match(const struct scans *s, const struct snapshot *snap, const struct suppress *rules,
	uint32_t site, struct leakcheck_matched *out);
/* The state as of now; what it points to is valid until the next call of any of these. */
const struct leaks *scans_state(struct scans *s);

#endif
