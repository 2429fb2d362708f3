/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One order for the events of all threads. Each thread's own are in order; ticks order those of
 * different threads, to 65 us. Where that is not enough, the address repairs it: a block is
 * allocated where none is live, and freed where one of its size and site is. So an event that does
 * not fit waits for the one of another thread that makes it fit. That never comes if it was lost;
 * or if, within one tick, a later event at the same address was taken for an earlier one. Then an
 * allocation is added beside the block there, and a free is owed to the next such block: after both
 * pairs the state is right again. One thread.
 */
#ifndef SRC_RECORD_EVENT_ORDER_H
#define SRC_RECORD_EVENT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include "src/record/event.h"

struct event_order;

/* Ordered events go to `sink`. NULL: no memory. */
struct event_order *event_order_new(const struct event_sink *sink);
void event_order_free(struct event_order *o);
/* The blocks found live when the recording began, which it puts in the order of their ticks. Before
 * or between events; one that has an event of its own is ignored. 0 or -ENOMEM. */
int event_order_before(struct event_order *o, struct event_raw *blocks, size_t count);
/* Adds the next `count` events of a slot (below EVENT_SLOTS_MAX). 0 or -ENOMEM. */
int event_order_add(
	struct event_order *o, uint32_t slot, const struct event_raw *events, size_t count);
/* That many events are missing before those that are added next. */
void event_order_lost(struct event_order *o, uint64_t count);
/*
 * All rings were read once. Passes on the events below `until`, a tick read before that reading
 * began. `last`: there will be no more, so passes on everything. 0 or -ENOMEM.
 */
int event_order_pass(struct event_order *o, uint64_t until, bool last);

/* The same, but stops after some `most` events: 1 if others are left below `until`, else 0, or
 * -ENOMEM. Those that are left, and what was added since, are for the next call. */
int event_order_part(struct event_order *o, uint64_t until, size_t most);

struct event_order_counts {
	uint64_t events, lost;
	uint64_t missed_frees; /* of blocks whose address was allocated again */
	uint64_t unknown_frees; /* of blocks that no event allocated: left out */
	uint64_t held; /* events that were added, and not passed on */
};
struct event_order_counts event_order_counts(const struct event_order *o);

#endif
