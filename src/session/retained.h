/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What call sites retained at the last leak scan, for the snapshots from then on. Main thread. */
#ifndef SRC_SESSION_RETAINED_H
#define SRC_SESSION_RETAINED_H

#include "src/model/snapshot.h"

/* All 0 at first: nothing is known. */
struct retained {
	uint64_t *bytes; /* per site id; NULL: unknown */
	size_t count;
};

/* Copies the figures of a scan's result, or forgets them with NULL. Without memory, they are
 * unknown. */
void retained_take(struct retained *r, const struct snap_leaks *leaks);
/* Fills in the sites of a snapshot that was just made. */
void retained_fill(const struct retained *r, struct snapshot *made);
void retained_free(struct retained *r);

#endif
