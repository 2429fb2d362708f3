/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans for the screen, one at a time, each in a thread of its own, so that the screen stays
 * responsive. Main thread.
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
 * For the process whose segment is at `path`. Ignores `progress` of the request. `owner`: of the
 * snapshots of the same image. NULL: out of memory.
 */
struct scan_control *scan_control_new(
	const char *path, const struct leak_scan_options *request, const void *owner);
/* Ends a running scan: the process is released before this returns. */
void scan_control_free(struct scan_control *s);
bool scan_control_is_of(const struct scan_control *s, const char *path, const void *owner);
/* Starts a scan. 0, -EBUSY while one is running, -EALREADY if the process is held, or another
 * -errno. */
int scan_control_start(struct scan_control *s);
/* The program asks for a scan: starts one, or, while one is running, has another follow it, so that
 * what the program did before it asked is in a result. Why none can be made becomes a failure. */
void scan_control_ask(struct scan_control *s);
/* The same as scan_control_start with zeros and copies in blocks, from a copy of the process. */
int scan_control_start_contents(struct scan_control *s);
/* The process waits at its end: ends a running scan, lets the process go on, and scans it at its
 * last instant, where `hold` keeps it. 0, or -errno: nothing was started. */
int scan_control_start_at_exit(struct scan_control *s, bool hold);
/* Releases a process that such a scan holds. False: none is held. */
bool scan_control_release(struct scan_control *s);
/* Waits until the running scan ends by itself; then collect it. */
void scan_control_await(struct scan_control *s);
/* Cancels the running scan, and the one that is to follow it: it has no result. */
void scan_control_cancel(struct scan_control *s);
/* The same, but its result is a failure with the reason `why` (static). */
void scan_control_give_up(struct scan_control *s, const char *why);
/* As cancel, and waits until the process is released. */
void scan_control_stop(struct scan_control *s);
/* Scans repeatedly, with this time between the end of one scan and the next; 0: no more. */
void scan_control_every(struct scan_control *s, uint64_t ns);
/* To be called regularly: starts a scan that is due. */
void scan_control_poll(struct scan_control *s);
/* Readable when a scan has ended, and regularly while one runs. Fills in at most `max`, returns how
 * many. Then scan_control_collect takes the result; true: there is something new to show. */
int scan_control_fds(const struct scan_control *s, struct pollfd *fds, int max);
bool scan_control_collect(struct scan_control *s);
/* Suppresses what `rules` match in the last result, by the names in `snap`, whenever names or rules
 * are new. */
void scan_control_suppress(
	struct scan_control *s, const struct snapshot *snap, const struct suppressions *rules);
/* What `rules` would match in addition, of a call site and of others (leak_summary.h). */
void scan_control_match(const struct scan_control *s, const struct snapshot *snap,
	const struct suppressions *rules, uint32_t site, struct leak_summary_matched *out);
/* The current state; what it points to is valid until the next call of any of these. */
const struct leaks *scan_control_state(struct scan_control *s);

#endif
