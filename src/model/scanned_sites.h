/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the last leak scan found about call sites, for the snapshots from then on: the bytes that
 * they retain, and the types of their blocks. Main thread.
 */
#ifndef SRC_MODEL_SCANNED_SITES_H
#define SRC_MODEL_SCANNED_SITES_H

#include "src/model/snapshot.h"

struct scanned_site;

/* All 0 at first: nothing is known. */
struct scanned_sites {
	struct scanned_site *site; /* by id; NULL: unknown */
	size_t count;
	struct snap_typed typed;
	void *names; /* owns the names of types; snapshots use them until the end */
	bool borrows; /* the scan's own names are used, and `names` is not */
};

/* Copies a scan's result, or forgets it with NULL. Without memory, it is unknown. */
void scanned_sites_take(struct scanned_sites *s, const struct snap_leaks *leaks);
/* Fills in the sites of a snapshot that was just made. */
void scanned_sites_fill(const struct scanned_sites *s, struct snapshot *made);
/* Once no snapshot is left. */
void scanned_sites_free(struct scanned_sites *s);
/* Fills in the sites of a snapshot as of a scan that lives as long, or none: NULL. */
void scanned_sites_apply(const struct snap_leaks *leaks, struct snapshot *made);

#endif
