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

struct scan_control;

/*
 * Of the process whose segment is at `path`. Of the wish, all but progress. `owner`: of the
 * snapshots of the same image. NULL without memory.
 */
struct scan_control *scan_control_new(
	const char *path, const struct leak_scan_options *request, const void *owner);
/* Ends one that is under way: the process is let go before this returns. */
void scan_control_free(struct scan_control *s);
bool scan_control_is_of(const struct scan_control *s, const char *path, const void *owner);
/* Begins one. 0, -EBUSY while one is under way, -EALREADY of a process that is held, or another
 * -errno. */
int scan_control_start(struct scan_control *s);
/* The process waits at its end: ends a scan that is under way, lets the process go on, and scans it
 * at its last instant, where `hold` keeps it. 0 or -errno: nothing was begun. */
int scan_control_start_at_exit(struct scan_control *s, bool hold);
/* Lets a process go that such a scan holds. False: none is held. */
bool scan_control_release(struct scan_control *s);
/* Waits until the one that is under way has ended by itself; to be collected. */
void scan_control_await(struct scan_control *s);
/* The one that is under way is to end, and has no result. */
void scan_control_cancel(struct scan_control *s);
/* The same, but its result is that it failed, for the reason `why`, which is static. */
void scan_control_give_up(struct scan_control *s, const char *why);
/* As cancel, and it waits until the process was let go. */
void scan_control_stop(struct scan_control *s);
/* Scans so often from now on, the time between the end of one and the next; 0: no more. */
void scan_control_every(struct scan_control *s, uint64_t ns);
/* To be called now and then: begins one that is due. */
void scan_control_poll(struct scan_control *s);
/* Readable when one has ended, and now and then while it is under way: fills at most `max`, returns
 * how many. scan_control_collect takes it, true if anything is to be shown. */
int scan_control_fds(const struct scan_control *s, struct pollfd *fds, int max);
bool scan_control_collect(struct scan_control *s);
/* Takes what `rules` match out of the last result, by the names in `snap`, as often as there are
 * names or rules that are new. */
void scan_control_suppress(
	struct scan_control *s, const struct snapshot *snap, const struct suppressions *rules);
/* What they would match beside what is suppressed, of a call site and of others (leakcheck.h). */
void scan_control_match(const struct scan_control *s, const struct snapshot *snap,
	const struct suppressions *rules, uint32_t site, struct leak_summary_matched *out);
/* The state as of now; what it points to is valid until the next call of any of these. */
const struct leaks *scan_control_state(struct scan_control *s);

#endif
