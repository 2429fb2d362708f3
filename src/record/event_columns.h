/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events as columns of numbers, which compress well: kinds, runs of ticks and threads, the sites
 * and sizes of allocations, and for a free the age of its block, counted in allocations, or the
 * distance to the block that was freed before. So which block was freed is kept, without addresses.
 * One thread.
 */
#ifndef SRC_RECORD_EVENT_COLUMNS_H
#define SRC_RECORD_EVENT_COLUMNS_H

#include "src/util/bytes.h"
#include "src/record/event.h"

/* Collects events, until there are enough for a block. All zeros: empty. */
struct event_columns {
	struct bytes kinds, ticks, slots, sites, sizes, ages;
	uint32_t count;
	/* Across blocks: */
	uint64_t number; /* of the next allocation */
	/* In this block: */
	uint64_t first_number, first_tick;
	uint64_t tick, tick_run; /* the current run: its tick and events */
	uint32_t slot, slot_run;
	uint8_t kind_bits;
	uint64_t freed; /* the last old block that was freed */
	uint32_t site;
};

void event_columns_add(struct event_columns *c, const struct event *e);
/* Appends the events to `out`, as the contents of a block, and starts the next. */
void event_columns_take(struct event_columns *c, struct bytes *out);
void event_columns_free(struct event_columns *c);

/*
 * Calls `sink` for each event of a block, in order. `number`: of the next allocation, across
 * blocks. The size and site of a free are 0. 0, or -EPROTO when the contents are damaged: events up
 * to there have been passed on.
 */
int event_columns_decode(
	struct bytes_cursor *contents, uint64_t *number, const struct event_sink *sink);

#endif
