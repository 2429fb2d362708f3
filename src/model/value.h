/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The figures of a call site that --value can choose: as the weight of an exported stack, as the
 * figure that a diff compares or that a condition of --fail-on limits. Pure; any thread.
 */
#ifndef SRC_MODEL_VALUE_H
#define SRC_MODEL_VALUE_H

#include "src/model/snapshot.h"

enum snap_value {
	VALUE_LIVE, /* live bytes at the snapshot's moment */
	VALUE_BLOCKS, /* live blocks, likewise */
	VALUE_ALLOCATED, /* bytes allocated up to then */
	VALUE_ALLOCS, /* blocks allocated up to then */
	VALUE_TEMPORARY, /* blocks freed by the same thread as its next event */
	VALUE_PEAK, /* live bytes at the program's peak; the sum over all sites is the peak */
	VALUE_OWN_PEAK, /* the site's own highest live bytes, whenever that was: no sum */
	VALUE_COUNT
};

struct value_info {
	const char *word; /* for --value: "live", "blocks", ... */
	const char *title; /* "live bytes" */
	bool bytes; /* it counts bytes, not blocks */
};

extern const struct value_info value_table[VALUE_COUNT];

/* The value of that word, or -1. */
int value_find(const char *word);
uint64_t value_of(const struct snap_site *site, enum snap_value v);
/* The program's value. For VALUE_PEAK without the peak's composition, and for VALUE_OWN_PEAK: its
 * peak. */
uint64_t value_total(const struct snap_totals *totals, enum snap_value v);
/* Whether the sites of that snapshot have it: VALUE_PEAK requires totals.has_at_peak. */
bool value_known(const struct snap_totals *totals, enum snap_value v);

#endif
