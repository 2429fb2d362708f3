/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ticks of one process image: what changed of each site's counters, of totals, threads and
 * /proc from one to the next, encoded; full resolution for the recent past, thinned with age so
 * that it stays within a limit. Thinning keeps the extremes and the ticks of marks. Main thread.
 */
#ifndef SRC_RECORD_HISTORY_H
#define SRC_RECORD_HISTORY_H

#include "src/model/timeline.h"

struct history;

/* NULL: no memory. */
struct history *history_new(uint64_t limit_bytes);
void history_free(struct history *h);
/* Adds a tick: a snapshot of now. Costs a pass over its sites. 0 or -ENOMEM: the tick is missing.
 */
int history_add(struct history *h, const struct snapshot *s);
/* What is kept. Valid until the next history_add. */
const struct timeline *history_timeline(struct history *h);
/*
 * The moment `m` (SNAP_PAST or SNAP_RANGE), derived from `base`, the newest snapshot of the same
 * image (src/model/moment.h): one reference, the caller's. Rates and trends are those of the time
 * before the moment. NULL and errno: ENODATA when nothing is kept, ENOMEM.
 */
struct snapshot *history_snapshot(struct history *h, struct snapshot *base, const struct moment *m);

#endif
