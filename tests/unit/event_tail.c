/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latest allocations at one call site: which lines there are, and what became of the blocks. */
#include "tests/unit/segment_fixture.h"

#include "src/run/event_tail.h"

static struct made made;

static struct event_tail *tail_open(uint32_t site)
{
	char message[EVENT_TAIL_MESSAGE_MAX];

	made_open(&made, &fixture_identity);
	CHECK_INT(thread_claim(&made.s, 77, NULL), 1);
	made_push(&made, HT_EVENT_ALLOC, site, 4096, 5); /* before the tail: not for it */
	return event_tail_open(made.path, site, message);
}

TEST(lines)
{
	struct event_tail *t = tail_open(3);
	const struct event_line *l;

	CHECK(t != NULL);
	if (!t)
		return;
	CHECK_INT(event_tail_update(t), 0);
	made_push(&made, HT_EVENT_ALLOC, 3, 64, 10);
	made_push(&made, HT_EVENT_ALLOC, 2, 128, 10); /* another site */
	made_push(&made, HT_EVENT_ALLOC, 3, 192, 20);
	made_push(&made, HT_EVENT_FREE, 3, 64, 10);
	CHECK_INT(event_tail_update(t), 3);
	CHECK_INT(event_tail_lines(t, &l), 2);
	CHECK(l[0].number == 1 && l[0].addr == 64 && l[0].size == 10 && l[0].freed);
	CHECK(l[0].tid == 77 && l[0].slot == 1 && l[0].freed_by == 1 && l[0].ns == 3u << 16);
	CHECK(l[1].number == 2 && l[1].addr == 192 && !l[1].freed);
	/* The same address again: the free is the latest block's. */
	made_push(&made, HT_EVENT_ALLOC, 3, 64, 30);
	CHECK_INT(event_tail_update(t), 1);
	CHECK_INT(event_tail_lines(t, &l), 3);
	CHECK(l[2].size == 30 && !l[2].freed);
	made_push(&made, HT_EVENT_FREE, 3, 64, 30);
	CHECK_INT(event_tail_update(t), 1);
	CHECK_INT(event_tail_lines(t, &l), 3);
	CHECK(l[2].freed && l[0].freed && l[0].size == 10);
	CHECK_INT(event_tail_missed(t), 0);
	event_tail_close(t);
	made_close(&made);
}

/* The oldest lines go; what was overwritten is counted. */
TEST(many)
{
	struct event_tail *t = tail_open(3);
	const struct event_line *l;

	CHECK(t != NULL);
	if (!t)
		return;
	for (unsigned i = 0; i < 5000; i++) {
		made_push(&made, HT_EVENT_ALLOC, 3, 64 + 16 * i, i);
		if (i % 900 == 0)
			CHECK(event_tail_update(t) >= 0);
	}
	CHECK(event_tail_update(t) >= 0);
	CHECK_INT(event_tail_lines(t, &l), EVENT_TAIL_LINES);
	CHECK(l[0].size == 4000 && l[EVENT_TAIL_LINES - 1].size == 4999);
	CHECK_INT(event_tail_missed(t), 0);
	for (unsigned i = 0; i < HT_RING_EVENTS + 9; i++)
		made_push(&made, HT_EVENT_ALLOC, 3, 64 + 16 * i, i);
	CHECK(event_tail_update(t) >= 0);
	CHECK_INT(event_tail_missed(t), 10);
	event_tail_close(t);
	made_close(&made);
}

static void push_at(uint32_t slot, uint32_t kind, uint64_t addr, uint64_t tick)
{
	struct ht_event e = { .addr = addr, .size = 8, .tick = tick, .site = 3, .kind = kind };

	ring_push(&made.s, slot, &e);
}

static struct event_tail *tail_open_two(void)
{
	struct event_tail *t = tail_open(3);

	CHECK_INT(thread_claim(&made.s, 78, NULL), 2);
	CHECK(t && event_tail_update(t) == 0);
	return t;
}

/* Slot 1 frees what slot 2 allocates; its ring is read first. */
TEST(a_free_that_is_read_before_its_allocation)
{
	struct event_tail *t = tail_open_two();
	const struct event_line *l;

	for (uint64_t i = 0; i < 10; i++) {
		push_at(2, HT_EVENT_ALLOC, 64, 100 + 2 * i);
		push_at(1, HT_EVENT_FREE, 64, 101 + 2 * i);
	}
	CHECK_INT(event_tail_update(t), 20);
	CHECK_INT(event_tail_lines(t, &l), 10);
	for (size_t i = 0; i < 10; i++)
		CHECK(l[i].freed && l[i].freed_after_ns == 1 << 16 && l[i].freed_by == 1 &&
			l[i].tid == 78);
	/* Even a pass before it. */
	push_at(1, HT_EVENT_FREE, 64, 200);
	CHECK_INT(event_tail_update(t), 0);
	push_at(2, HT_EVENT_ALLOC, 64, 199);
	CHECK_INT(event_tail_update(t), 2);
	CHECK_INT(event_tail_lines(t, &l), 11);
	CHECK(l[10].freed);
	/* But no block is freed before it was allocated. */
	push_at(1, HT_EVENT_FREE, 64, 300);
	push_at(2, HT_EVENT_ALLOC, 64, 301);
	CHECK_INT(event_tail_update(t), 1);
	CHECK_INT(event_tail_lines(t, &l), 12);
	CHECK(!l[11].freed);
	event_tail_close(t);
	made_close(&made);
}

/* Two threads allocate at the site: lines are in the order of time. */
TEST(threads_by_time)
{
	struct event_tail *t = tail_open_two();
	const struct event_line *l;

	for (uint64_t i = 0; i < 5; i++) {
		push_at(2, HT_EVENT_ALLOC, 1600 + 16 * i, 100 + 2 * i);
		push_at(1, HT_EVENT_ALLOC, 3200 + 16 * i, 101 + 2 * i);
	}
	CHECK_INT(event_tail_update(t), 10);
	CHECK_INT(event_tail_lines(t, &l), 10);
	for (size_t i = 0; i < 10; i++)
		CHECK(l[i].number == i + 1 && l[i].ns == (100 + i) << 16 &&
			l[i].slot == (i % 2 ? 1 : 2));
	event_tail_close(t);
	made_close(&made);
}

/* Within a tick only the order in a thread is known, and that of blocks at one address. */
TEST(a_tick_of_many_events)
{
	struct event_tail *t = tail_open_two();
	const struct event_line *l;

	push_at(2, HT_EVENT_ALLOC, 64, 100);
	CHECK_INT(event_tail_update(t), 1);
	push_at(2, HT_EVENT_FREE, 64, 101); /* of the first */
	push_at(2, HT_EVENT_ALLOC, 64, 101);
	push_at(1, HT_EVENT_FREE, 64, 101); /* of the second */
	push_at(2, HT_EVENT_ALLOC, 64, 101);
	CHECK(event_tail_update(t) > 0);
	CHECK_INT(event_tail_lines(t, &l), 3);
	CHECK(l[0].freed && l[0].freed_after_ns == 1 << 16);
	CHECK(l[0].freed + l[1].freed + l[2].freed == 2);
	event_tail_close(t);
	made_close(&made);
}

int main(void)
{
	RUN(lines);
	RUN(many);
	RUN(a_free_that_is_read_before_its_allocation);
	RUN(threads_by_time);
	RUN(a_tick_of_many_events);
	return check_end();
}
