/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One order for the events of all threads (event_order.h). A queue for each slot; of those whose
 * first event fits, the one with the lowest tick is next. An event that a full reading of all rings
 * since has not made fit, will never.
 */
#include "src/record/event_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/event_blocks.h"

#define BEFORE	   UINT32_MAX /* slot of a block that no event allocated */
#define TICK_MAX   (UINT64_MAX >> (EVENT_TICK_SHIFT + 1))
#define TICKS_OWED 64u /* how long after a free its allocation may come */
#define AHEAD	   16u /* events ahead whose blocks are fetched: some 100 ns before they are needed */
#define SLACK	   2u /* ticks by which a stamp may be too old, when two threads publish at once */

struct queue {
	struct event_raw *events;
	size_t first, count, room;
	uint64_t waits_for; /* address; 0: the first event fits, or was not tried */
	uint64_t waits_since; /* pass */
};

struct event_order {
	struct event_sink sink;
	struct queue queue[EVENT_SLOTS_MAX];
	uint32_t slots; /* in use: all below this */
	uint32_t waiting; /* queues with waits_for */
	struct event_blocks live; /* by address */
	struct event_blocks owed; /* frees that came before their allocation, the same way */
	bool exact; /* all events are here, from the first on */
	uint64_t next_number, tick, pass;
	uint64_t lost_now, lost_after; /* not passed on yet; it belongs after that many events */
	uint64_t stop; /* number of events after which the present pass ends */
	bool failed; /* no memory for a live block */
	struct event_order_counts counts;
};

struct event_order *event_order_new(const struct event_sink *sink)
{
	struct event_order *o = calloc(1, sizeof(*o));

	if (o) {
		o->sink = *sink;
		o->exact = true;
	}
	return o;
}

void event_order_free(struct event_order *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->slots; i++)
		free(o->queue[i].events);
	event_blocks_free(&o->live);
	event_blocks_free(&o->owed);
	free(o);
}

static bool queue_room(struct queue *q, size_t more)
{
	size_t room = q->room ? q->room : 1024;
	struct event_raw *events;

	/* While it is read slowly, it is not moved each time. */
	if (q->first >= q->room / 2 && q->first > 0) {
		memmove(q->events, q->events + q->first, q->count * sizeof(*q->events));
		q->first = 0;
	}
	while (room - q->first - q->count < more)
		room *= 2;
	if (room == q->room)
		return true;
	events = realloc(q->events, room * sizeof(*events));
	if (!events)
		return false;
	q->events = events;
	q->room = room;
	return true;
}

int event_order_add(
	struct event_order *o, uint32_t slot, const struct event_raw *events, size_t count)
{
	struct queue *q = &o->queue[slot];

	if (slot >= o->slots)
		o->slots = slot + 1;
	if (q->room - q->first - q->count < count && !queue_room(q, count))
		return -ENOMEM;
	memcpy(q->events + q->first + q->count, events, count * sizeof(*events));
	q->count += count;
	o->counts.held += count;
	return 0;
}

void event_order_lost(struct event_order *o, uint64_t count)
{
	o->exact &= count == 0;
	if (o->lost_now == 0)
		o->lost_after = o->counts.events + o->counts.held;
	o->lost_now += count;
	o->counts.lost += count;
}

struct event_order_counts event_order_counts(const struct event_order *o)
{
	return o->counts;
}

/* A hostile one must not overflow. */
static uint64_t tick_of(const struct event_raw *e)
{
	return e->tick < TICK_MAX ? e->tick : TICK_MAX;
}

static void emit(struct event_order *o, struct event *e)
{
	if (e->tick < o->tick)
		e->tick = o->tick;
	o->tick = e->tick;
	o->sink.event(o->sink.ctx, e);
}

static void lost_emit(struct event_order *o)
{
	struct event e = { .kind = EVENT_LOST, .number = o->lost_now, .tick = o->tick };

	if (o->lost_now > 0)
		emit(o, &e);
	o->lost_now = 0;
}

static void block_emit(struct event_order *o, enum event_kind kind, uint32_t slot,
	const struct event_raw *raw, uint64_t number)
{
	struct event e = { kind, slot, tick_of(raw), number, raw->size, raw->site };

	emit(o, &e);
}

static void block_begin(
	struct event_order *o, enum event_kind kind, uint32_t slot, const struct event_raw *raw)
{
	struct event_block b = { raw->addr, o->next_number++, raw->size, raw->tick, raw->site,
		kind == EVENT_BEFORE ? BEFORE : slot };

	if (!event_blocks_add(&o->live, &b))
		o->failed = true;
	block_emit(o, kind, slot, raw, b.number);
}

static void block_end(
	struct event_order *o, uint32_t slot, uint64_t tick, struct event_block *block)
{
	struct event e = { EVENT_FREE, slot, tick, block->number, block->size, block->site };

	event_blocks_remove(&o->live, block);
	emit(o, &e);
}

static int by_tick(const void *a, const void *b)
{
	const struct event_raw *x = a, *y = b;

	return (x->tick > y->tick) - (x->tick < y->tick);
}

int event_order_before(struct event_order *o, struct event_raw *blocks, size_t count)
{
	o->exact = false;
	if (count > 0)
		qsort(blocks, count, sizeof(*blocks), by_tick);
	for (size_t i = 0; i < count; i++)
		if (blocks[i].addr != 0 && !event_blocks_find(&o->live, blocks[i].addr))
			block_begin(o, EVENT_BEFORE, 0, &blocks[i]);
	return o->failed ? -ENOMEM : 0;
}

/* Lets those go on that waited for a change at this address. */
static void waiting_wake(struct event_order *o, uint64_t addr)
{
	for (uint32_t i = 0; o->waiting > 0 && i < o->slots; i++)
		if (o->queue[i].waits_for == addr) {
			o->queue[i].waits_for = 0;
			o->waiting--;
		}
}

/* Whether a block that was found live when the recording began is the one that this event
 * allocates: the event was written just before it was found. */
static bool is_same(const struct event_block *b, const struct event_raw *raw)
{
	return b->slot == BEFORE && b->tick == raw->tick && b->size == raw->size &&
	       b->site == raw->site;
}

static bool first_drop(struct event_order *o, struct queue *q)
{
	o->counts.held--;
	q->first++;
	if (--q->count == 0)
		q->first = 0;
	return true;
}

/* `there`: the block at its address, or NULL. */
static void alloc_pass_on(struct event_order *o, uint32_t slot, const struct event_raw *raw,
	struct event_block *there)
{
	struct event_block *owed = event_blocks_find_as(&o->owed, raw->addr, raw->size, raw->site);

	if (there && !o->exact) {
		o->counts.missed_frees++;
		block_end(o, slot, tick_of(raw), there);
	}
	block_begin(o, EVENT_ALLOC, slot, raw);
	if (!owed)
		return;
	if (tick_of(raw) - owed->tick <= TICKS_OWED && !o->failed) {
		o->counts.unknown_frees--;
		block_end(o, slot, tick_of(raw),
			event_blocks_find_as(&o->live, raw->addr, raw->size, raw->site));
	}
	event_blocks_remove(&o->owed, owed);
}

/* A free of a block that no event has allocated. */
static void free_owe(struct event_order *o, const struct event_raw *raw)
{
	const struct event_block b = {
		.key = raw->addr, .size = raw->size, .site = raw->site, .tick = tick_of(raw)
	};

	o->counts.unknown_frees++;
	if (o->exact && raw->addr != 0 && !event_blocks_add(&o->owed, &b))
		o->failed = true;
}

/* Blocks are spread over a table that no cache holds. */
static void fetch(const struct event_order *o, const struct queue *q, size_t ahead)
{
	if (ahead < q->count)
		event_blocks_prefetch(&o->live, q->events[q->first + ahead].addr);
}

/* Passes on the first event of a queue. False: it does not fit, and now waits. `force`: it will
 * never fit, so that it is made to. */
static bool first_pass_on(struct event_order *o, uint32_t slot, bool force)
{
	struct queue *q = &o->queue[slot];
	const struct event_raw *raw = &q->events[q->first];
	bool allocates = raw->kind == EVENT_RAW_ALLOC;
	struct event_block *block;

	fetch(o, q, AHEAD);
	block = allocates ? event_blocks_find(&o->live, raw->addr)
			  : event_blocks_find_as(&o->live, raw->addr, raw->size, raw->site);

	if (raw->addr == 0 || raw->kind - 1 > 1)
		force = true; /* no event that a program writes */
	if (allocates && block && is_same(block, raw))
		return first_drop(o, q);
	if (allocates == (block != NULL) && !force) {
		q->waits_for = raw->addr;
		q->waits_since = o->pass;
		o->waiting++;
		return false;
	}
	if (allocates && raw->addr != 0)
		alloc_pass_on(o, slot, raw, block);
	else if (block)
		block_end(o, slot, tick_of(raw), block);
	else
		free_owe(o, raw);
	o->counts.events++;
	if (o->waiting > 0)
		waiting_wake(o, raw->addr);
	return first_drop(o, q);
}

static uint64_t first_tick(const struct queue *q)
{
	return tick_of(&q->events[q->first]);
}

/* The queue to go on with, of those that do not wait: of equal ticks the lowest slot. `to`: below
 * which tick; from there on another queue's events come first. EVENT_SLOTS_MAX: none. */
static uint32_t lowest(const struct event_order *o, uint64_t *to)
{
	uint64_t best = UINT64_MAX;
	uint32_t found = EVENT_SLOTS_MAX;

	*to = UINT64_MAX;
	for (uint32_t i = 0; i < o->slots; i++) {
		const struct queue *q = &o->queue[i];
		uint64_t tick;

		if (q->count == 0 || q->waits_for != 0)
			continue;
		tick = first_tick(q);
		if (tick < best || found == EVENT_SLOTS_MAX) {
			*to = best; /* the other's slot is lower */
			best = tick;
			found = i;
		} else if (tick < *to) {
			*to = tick + 1;
		}
	}
	return found;
}

/* Nothing overtakes an event that waits: what it waits for has no later stamp. */
static uint64_t limit_of(const struct event_order *o, uint64_t until)
{
	for (uint32_t i = 0; o->waiting > 0 && i < o->slots; i++) {
		const struct queue *q = &o->queue[i];

		if (q->count > 0 && q->waits_for != 0 && first_tick(q) + SLACK < until)
			until = first_tick(q) + SLACK + 1;
	}
	return until;
}

/* Passes on what fits, below `until`. */
static void fitting_pass_on(struct event_order *o, uint64_t until)
{
	uint64_t to;
	uint32_t slot;

	while (o->counts.events < o->stop && (slot = lowest(o, &to)) != EVENT_SLOTS_MAX) {
		struct queue *q = &o->queue[slot];
		uint32_t waiting = o->waiting;
		uint64_t limit = limit_of(o, until);

		if (first_tick(q) >= limit)
			break;
		if (to > limit)
			to = limit;
		/* Another queue may come to be the lowest when it stops waiting. */
		while (q->count > 0 && first_tick(q) < to && o->waiting >= waiting &&
			o->counts.events < o->stop)
			if (!first_pass_on(o, slot, false))
				break;
	}
}

/* The waiting queue to make fit first. An allocation beside another block makes nothing wrong, and
 * may be what a free waits for. */
static uint32_t lowest_waiting(const struct event_order *o)
{
	uint64_t limit = limit_of(o, UINT64_MAX);
	uint32_t found = EVENT_SLOTS_MAX;

	for (uint32_t i = 0; o->waiting > 0 && i < o->slots; i++) {
		const struct queue *q = &o->queue[i];

		if (q->count == 0 || q->waits_for == 0 || first_tick(q) >= limit)
			continue;
		if (q->events[q->first].kind == EVENT_RAW_ALLOC)
			return i;
		if (found == EVENT_SLOTS_MAX || first_tick(q) < first_tick(&o->queue[found]))
			found = i;
	}
	return found;
}

/* What it waits for happened before it, so a reading of all rings that began after it was seen has
 * seen that, too. */
static bool waits_in_vain(const struct event_order *o, const struct queue *q, uint64_t until)
{
	return o->pass > q->waits_since && first_tick(q) + SLACK < until;
}

/* Makes fit what never will by itself, once all that fits is passed on. */
static void vain_pass_on(struct event_order *o, uint64_t until, bool last)
{
	uint32_t slot;

	while (o->counts.events < o->stop && (slot = lowest_waiting(o)) != EVENT_SLOTS_MAX &&
		(last || waits_in_vain(o, &o->queue[slot], until))) {
		o->queue[slot].waits_for = 0;
		o->waiting--;
		first_pass_on(o, slot, true);
		fitting_pass_on(o, until);
	}
}

int event_order_pass(struct event_order *o, uint64_t until, bool last)
{
	o->pass++;
	o->stop = UINT64_MAX;
	if (last)
		until = UINT64_MAX;
	lost_emit(o);
	fitting_pass_on(o, until);
	vain_pass_on(o, until, last);
	return o->failed ? -ENOMEM : 0;
}

int event_order_part(struct event_order *o, uint64_t until, size_t most)
{
	o->pass++;
	o->stop = o->counts.events + most;
	if (o->counts.events >= o->lost_after)
		lost_emit(o);
	else if (o->lost_now > 0 && o->stop > o->lost_after)
		o->stop = o->lost_after; /* they are missing there */
	fitting_pass_on(o, until);
	vain_pass_on(o, until, false);
	if (o->failed)
		return -ENOMEM;
	return o->counts.events >= o->stop;
}
