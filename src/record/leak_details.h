/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a leak scan found beyond sums and call sites, as a payload of its own: what holds the heap,
 * cycles, the types and retained sizes of call sites, and for the first of them, those that lost
 * most, their oldest blocks and the paths to these. Main thread.
 */
#ifndef SRC_RECORD_LEAK_DETAILS_H
#define SRC_RECORD_LEAK_DETAILS_H

#include "src/model/snapshot.h"
#include "src/record/arena.h"
#include "src/util/bytes.h"

/* Whether there is any of it: not every scan computes it. */
bool leak_details_any(const struct snap_leaks *l);
/* Appends the raw payload. */
void leak_details_put(struct bytes *raw, const struct snap_leaks *l);
/* Adds what a raw payload has to the scan that it is of. 0; -EBADMSG: it is damaged, or of another
 * scan, and nothing was added. */
int leak_details_read(const struct bytes *raw, struct arena *arena, struct snap_leaks *l);

#endif
