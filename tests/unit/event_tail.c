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
	const struct event_tail_line *l;

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
	const struct event_tail_line *l;

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

int main(void)
{
	RUN(lines);
	RUN(many);
	return check_end();
}
