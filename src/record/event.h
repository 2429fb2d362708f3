/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One allocation or free of a recording of all events (--record-events). Blocks are named by
 * numbers, counted in the order in which they were allocated, so that the same address used twice
 * is two blocks.
 */
#ifndef SRC_RECORD_EVENT_H
#define SRC_RECORD_EVENT_H

#include <stdint.h>

#define EVENT_TICK_SHIFT 16u /* = HT_TICK_SHIFT: a tick is 65,536 ns */
#define EVENT_SLOTS_MAX	 1024u /* thread slots of a segment */

enum event_kind {
	EVENT_ALLOC,
	EVENT_FREE,
	EVENT_BEFORE, /* a block that was live before the recording began */
	EVENT_LOST, /* `number` events are missing here */
	EVENT_KINDS
};

struct event {
	enum event_kind kind;
	uint32_t slot; /* of the thread; 0: threads without a slot */
	uint64_t tick; /* since the program's start; never decreases */
	uint64_t number; /* of the block */
	uint64_t size;
	uint32_t site; /* that allocated the block */
};

/* An event as the program writes it: struct ht_event. */
struct event_raw {
	uint64_t addr, size, tick;
	uint32_t site;
	uint32_t kind; /* EVENT_RAW_* */
};
#define EVENT_RAW_ALLOC 1u
#define EVENT_RAW_FREE	2u

struct event_sink {
	void *ctx;
	void (*event)(void *ctx, const struct event *e);
};

#endif
