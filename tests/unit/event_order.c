/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One order from the events of several threads. Programs are made at random, in a true order; each
 * thread's events come out of its ring in pieces, with ticks too coarse to tell the order.
 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include "src/record/event_order.h"

#define THREADS	  5u
#define ADDRESSES 40u
#define EVENTS	  20000u

static uint64_t seed;

static uint64_t random_below(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

/* What came out, by what must hold. */
struct heard {
	uint64_t live[1u << 16]; /* size + 1 of a block, by number */
	uint32_t site[1u << 16];
	uint64_t allocs, frees, before, lost, live_bytes, tick, first_tick;
	uint64_t wrong;
};
static struct heard heard;

static void hear(void *ctx, const struct event *e)
{
	if (heard.allocs + heard.before == 0)
		heard.first_tick = e->tick;
	heard.wrong += e->tick < heard.tick;
	heard.tick = e->tick;
	if (e->kind == EVENT_LOST) {
		heard.lost += e->number;
	} else if (e->kind == EVENT_FREE) {
		heard.wrong +=
			heard.live[e->number] != e->size + 1 || heard.site[e->number] != e->site;
		heard.live[e->number] = 0;
		heard.live_bytes -= e->size;
		heard.frees++;
	} else {
		heard.wrong +=
			heard.live[e->number] != 0 || e->number != heard.allocs + heard.before;
		heard.live[e->number] = e->size + 1;
		heard.site[e->number] = e->site;
		heard.live_bytes += e->size;
		*(e->kind == EVENT_ALLOC ? &heard.allocs : &heard.before) += 1;
	}
}

static struct event_order *order_make(void)
{
	static const struct event_sink sink = { NULL, hear };

	memset(&heard, 0, sizeof(heard));
	return event_order_new(&sink);
}

/* The events of each thread, and where the program and the reader are in them. */
struct ring {
	struct event_raw event[EVENTS];
	size_t written, read;
};
static struct ring ring[THREADS];
static uint64_t size_at[ADDRESSES], live_bytes, allocs, frees;

static void program_write(uint32_t slot, uint64_t addr, uint64_t size, uint64_t tick, uint32_t kind)
{
	ring[slot].event[ring[slot].written++] =
		(struct event_raw){ addr, size, tick, (uint32_t)(size % 3), kind };
}

/* One thread allocates or frees at an address; any thread may free what another allocated. */
static void program_step(uint64_t i, uint64_t per_tick)
{
	uint32_t slot = (uint32_t)random_below(THREADS), at = (uint32_t)random_below(ADDRESSES);
	uint64_t tick = i / per_tick;

	if (size_at[at] == 0) {
		size_at[at] = 1 + random_below(8);
		live_bytes += size_at[at];
		allocs++;
		program_write(slot, 16 * (at + 1), size_at[at], tick, EVENT_RAW_ALLOC);
	} else {
		program_write(slot, 16 * (at + 1), size_at[at], tick, EVENT_RAW_FREE);
		live_bytes -= size_at[at];
		size_at[at] = 0;
		frees++;
	}
}

/* Reads all rings, as they are now. */
static void read_all(struct event_order *o)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		size_t n = ring[i].written - ring[i].read;

		CHECK_INT(event_order_add(o, i, ring[i].event + ring[i].read, n), 0);
		ring[i].read += n;
	}
}

/* The reading of one ring comes after that of another, and the program runs in between. */
static void read_between(struct event_order *o, uint64_t *i, uint64_t per_tick)
{
	for (uint32_t slot = 0; slot < THREADS; slot++) {
		size_t n = ring[slot].written - ring[slot].read;

		event_order_add(o, slot, ring[slot].event + ring[slot].read, n);
		ring[slot].read += n;
		for (uint64_t steps = random_below(4); steps > 0 && *i < EVENTS; steps--)
			program_step((*i)++, per_tick);
	}
}

/* `most`: events that are passed on after a reading; 0: all. */
static void pass_on(struct event_order *o, uint64_t until, size_t most)
{
	uint64_t before = event_order_counts(o).events, after;
	int rc = most ? event_order_part(o, until, most) : event_order_pass(o, until, false);

	after = event_order_counts(o).events;
	CHECK(rc == 0 || (most && rc == 1));
	CHECK(!most || after - before <= most);
	CHECK(rc == 0 || after - before == most);
}

static void random_program(uint64_t with, uint64_t per_tick, size_t most)
{
	struct event_order *o = order_make();
	struct event_order_counts c;

	seed = with;
	memset(ring, 0, sizeof(ring));
	memset(size_at, 0, sizeof(size_at));
	live_bytes = allocs = frees = 0;
	for (uint64_t i = 0; i < EVENTS;) {
		uint64_t before = i / per_tick;

		for (uint64_t steps = random_below(60); steps > 0 && i < EVENTS; steps--)
			program_step(i++, per_tick);
		read_between(o, &i, per_tick);
		pass_on(o, before, most);
	}
	read_all(o);
	CHECK_INT(event_order_pass(o, 0, true), 0);
	c = event_order_counts(o);
	CHECK_INT(c.missed_frees, 0);
	CHECK_INT(c.unknown_frees, 0);
	CHECK_INT(c.held, 0);
	CHECK_INT(c.events, allocs + frees);
	CHECK_INT(heard.allocs, allocs);
	CHECK_INT(heard.frees, frees);
	CHECK_INT(heard.live_bytes, live_bytes);
	CHECK_INT(heard.wrong, 0);
	event_order_free(o);
}

TEST(random_programs)
{
	for (uint64_t i = 1; i <= 40; i++)
		random_program(i, i % 4 == 0 ? 1 : i % 4 == 1 ? 50 : i % 4 == 2 ? 2000 : EVENTS, 0);
}

/* Events come faster than they are passed on, or about as fast. */
TEST(in_parts)
{
	for (uint64_t i = 1; i <= 40; i++)
		random_program(i, i % 3 == 0 ? 1 : i % 3 == 1 ? 50 : 2000, i % 2 ? 20 : 45);
}

static void add(struct event_order *o, uint32_t slot, uint64_t addr, uint64_t size, uint64_t tick,
	uint32_t kind)
{
	const struct event_raw e = { addr, size, tick, 7, kind };

	CHECK_INT(event_order_add(o, slot, &e, 1), 0);
}

/* Two threads pass one address to and fro, all in one tick, read in the worst order. */
TEST(to_and_fro)
{
	struct event_order *o = order_make();

	for (unsigned i = 0; i < 100; i++)
		add(o, 2, 64, i % 2 ? i : i + 100, 5, i % 2 ? EVENT_RAW_ALLOC : EVENT_RAW_FREE);
	CHECK_INT(event_order_pass(o, 100, false), 0);
	CHECK_INT(heard.allocs + heard.frees, 0);
	for (unsigned i = 0; i < 100; i++)
		add(o, 1, 64, i % 2 ? i : i + 100, 5, i % 2 ? EVENT_RAW_FREE : EVENT_RAW_ALLOC);
	CHECK_INT(event_order_pass(o, 100, false), 0);
	CHECK_INT(heard.allocs, 100);
	CHECK_INT(heard.frees, 100);
	CHECK_INT(heard.wrong, 0);
	CHECK_INT(event_order_counts(o).missed_frees, 0);
	event_order_free(o);
}

/* What was lost is noted where it is missing, not before what was read earlier. */
TEST(lost_after_a_backlog)
{
	struct event_order *o = order_make();

	for (unsigned i = 0; i < 10; i++)
		add(o, 1, 64 * (i + 1), 8, i, EVENT_RAW_ALLOC);
	event_order_lost(o, 3);
	for (unsigned i = 10; i < 20; i++)
		add(o, 1, 64 * (i + 1), 8, i, EVENT_RAW_ALLOC);
	CHECK_INT(event_order_part(o, 100, 8), 1);
	CHECK_INT(heard.allocs, 8);
	CHECK_INT(event_order_part(o, 100, 8), 1);
	CHECK_INT(heard.allocs, 10);
	CHECK_INT(heard.lost, 0);
	CHECK_INT(event_order_part(o, 100, 8), 1);
	CHECK_INT(heard.lost, 3);
	CHECK_INT(heard.allocs, 18);
	CHECK_INT(event_order_part(o, 100, 8), 0);
	CHECK_INT(heard.allocs, 20);
	event_order_free(o);
}

/* An event whose counterpart was lost waits for some readings, and then is made to fit. */
TEST(lost_counterparts)
{
	struct event_order *o = order_make();

	add(o, 1, 64, 10, 5, EVENT_RAW_ALLOC);
	event_order_lost(o, 3);
	add(o, 1, 64, 20, 6, EVENT_RAW_ALLOC); /* its free was lost */
	add(o, 1, 128, 20, 7, EVENT_RAW_FREE); /* its allocation was lost */
	add(o, 1, 192, 30, 8, EVENT_RAW_ALLOC);
	CHECK_INT(event_order_pass(o, 100, false), 0);
	CHECK_INT(heard.allocs, 1);
	for (unsigned i = 0; i < 12; i++)
		CHECK_INT(event_order_pass(o, 200 + i, false), 0);
	CHECK_INT(heard.allocs, 3);
	CHECK_INT(heard.frees, 1);
	CHECK_INT(heard.lost, 3);
	CHECK_INT(heard.live_bytes, 50);
	CHECK_INT(event_order_counts(o).missed_frees, 1);
	CHECK_INT(event_order_counts(o).unknown_frees, 1);
	CHECK_INT(heard.wrong, 0);
	event_order_free(o);
}

/* Events of now are left for the next reading, since an older one of another ring may come. */
TEST(held_until_older_ones_came)
{
	struct event_order *o = order_make();

	add(o, 1, 64, 10, 50, EVENT_RAW_ALLOC);
	CHECK_INT(event_order_pass(o, 50, false), 0);
	CHECK_INT(heard.allocs, 0);
	add(o, 2, 128, 20, 40, EVENT_RAW_ALLOC);
	CHECK_INT(event_order_pass(o, 51, false), 0);
	CHECK_INT(heard.allocs, 2);
	CHECK_INT(heard.wrong, 0);
	event_order_free(o);
}

/* Of equal ticks the lower slot's come first, also when the higher one's queue is being emptied: a
 * thread that goes on at the sign of another one has the same tick as that, not an earlier one. */
TEST(equal_ticks)
{
	struct event_order *o = order_make();

	add(o, 3, 64, 1, 5, EVENT_RAW_ALLOC);
	add(o, 3, 128, 5, 10, EVENT_RAW_ALLOC);
	add(o, 1, 192, 3, 10, EVENT_RAW_ALLOC);
	add(o, 2, 256, 2, 7, EVENT_RAW_ALLOC);
	add(o, 2, 320, 4, 10, EVENT_RAW_ALLOC);
	CHECK_INT(event_order_pass(o, 100, false), 0);
	for (uint64_t number = 0; number < 5; number++)
		CHECK_INT(heard.live[number], number + 1 + 1);
	event_order_free(o);
}

/* Blocks that were there before; one of them has an event of its own, too. */
TEST(before)
{
	struct event_order *o = order_make();
	struct event_raw there[] = { { 128, 20, 9, 7, EVENT_RAW_ALLOC },
		{ 64, 10, 3, 7, EVENT_RAW_ALLOC } };

	CHECK_INT(event_order_before(o, there, 2), 0);
	CHECK_INT(heard.first_tick, 3); /* the older one is not made younger */
	add(o, 1, 128, 20, 9, EVENT_RAW_ALLOC);
	add(o, 1, 64, 10, 10, EVENT_RAW_FREE);
	add(o, 1, 128, 20, 11, EVENT_RAW_FREE);
	CHECK_INT(event_order_pass(o, 100, true), 0);
	CHECK_INT(heard.before, 2);
	CHECK_INT(heard.allocs, 0);
	CHECK_INT(heard.frees, 2);
	CHECK_INT(heard.live_bytes, 0);
	CHECK_INT(event_order_counts(o).missed_frees, 0);
	event_order_free(o);
}

/* What no program writes is dropped. */
TEST(hostile)
{
	struct event_order *o = order_make();

	add(o, 1, 0, 10, 5, EVENT_RAW_ALLOC);
	add(o, 1, 0, 10, 5, EVENT_RAW_FREE);
	add(o, 1, 64, 10, UINT64_MAX, 77);
	add(o, 2, 64, 10, UINT64_MAX, EVENT_RAW_ALLOC);
	CHECK_INT(event_order_pass(o, 10, false), 0);
	CHECK_INT(event_order_pass(o, 10, true), 0);
	CHECK_INT(event_order_counts(o).held, 0);
	event_order_free(o);
}

int main(void)
{
	RUN(random_programs);
	RUN(in_parts);
	RUN(lost_after_a_backlog);
	RUN(to_and_fro);
	RUN(lost_counterparts);
	RUN(held_until_older_ones_came);
	RUN(equal_ticks);
	RUN(before);
	RUN(hostile);
	return check_end();
}
