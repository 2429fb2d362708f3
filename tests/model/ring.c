/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ring's protocol, with rings of two and three records: a writer that overwrites and a reader
 * that is overtaken anywhere. Every word of an event follows from its number.
 */
#include "shm/ring.h"
#include "tests/model/model.h"

#define SLOT 1u

static struct segment segment;

static struct ht_event event(uint64_t i)
{
	return (struct ht_event){ .addr = 100 + i,
		.size = 200 + i,
		.tick = 300 + i,
		.site = (uint32_t)(400 + i),
		.kind = (uint32_t)(500 + i) };
}

static bool is_event(const struct ht_event *e, uint64_t i)
{
	return e->addr == 100 + i && e->size == 200 + i && e->tick == 300 + i &&
	       e->site == 400 + i && e->kind == 500 + i;
}

static void push(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		struct ht_event e = event(i);

		ring_push(&segment, SLOT, &e);
	}
}

static int head(void *ctx, uint64_t *out)
{
	*out = ht_load_acquire_64(&thread_at(&segment, SLOT)->ring_head);
	return 0;
}

static int record(void *ctx, uint32_t index, struct ht_event *e)
{
	const struct ht_event *r =
		segment_at(&segment, segment_element(&segment, HT_REGION_RINGS,
					     (uint64_t)SLOT * HT_RING_EVENTS + index, sizeof(*e)));

	e->addr = ht_load_relaxed_64(&r->addr);
	e->size = ht_load_relaxed_64(&r->size);
	e->tick = ht_load_relaxed_64(&r->tick);
	e->site = ht_load_relaxed_32(&r->site);
	e->kind = ht_load_relaxed_32(&r->kind);
	return 0;
}

struct reader {
	uint64_t cursor, lost, given;
};

static void read_once(struct reader *r)
{
	struct ring_source source = { NULL, head, record };
	struct ht_event out[8];
	int n = ring_read(&source, &r->cursor, out, 8, &r->lost);

	model_require(n >= 0, "reading works");
	for (int i = 0; i < n; i++)
		model_require(is_event(&out[i], r->cursor - (uint64_t)(n - i)),
			"every event given out is whole and in its place");
	r->given += (uint64_t)n;
	model_require(r->given + r->lost == r->cursor, "given and lost are all there were");
}

static void setup_empty(void)
{
	model_segment(&segment, 1, 1);
}

static void setup_filled(void)
{
	model_segment(&segment, 1, 1);
	push(0, HT_RING_EVENTS);
}

static void write_first(void)
{
	push(0, HT_RING_EVENTS + 1);
}

static void write_over(void)
{
	push(HT_RING_EVENTS, 2 * HT_RING_EVENTS);
}

/* Writes only while a reader wants events, as a hook does; the reader's wish ends by the clock. */
static void write_wanted(void)
{
	for (uint64_t i = 0, at = 0; i < HT_RING_EVENTS + 2; i++)
		if (ring_is_wanted(&segment)) {
			push(at, at + 1);
			at++;
		}
}

static void ask_and_read(void)
{
	struct reader r = { 0, 0, 0 };

	ht_store_relaxed_64(
		&segment.header->events_until, ht_load_relaxed_64(&segment.header->clock_ns) + 1);
	read_once(&r);
}

static void let_time_pass(void)
{
	ht_store_relaxed_64(
		&segment.header->clock_ns, ht_load_relaxed_64(&segment.header->clock_ns) + 2);
}

static void read_twice(void)
{
	struct reader r = { 0, 0, 0 };

	read_once(&r);
	read_once(&r);
}

static void read_from_middle(void)
{
	struct reader r = { 1, 1, 0 };

	read_once(&r);
}

/* Quiet: a reader gets all that is certainly whole, and no more. */
static void end(void)
{
	struct reader r = { 0, 0, 0 };
	uint64_t written = thread_at(&segment, SLOT)->ring_head;

	read_once(&r);
	model_require(r.cursor == written, "a reader comes to the end");
	model_require(r.given == (written < HT_RING_EVENTS ? written : HT_RING_EVENTS - 1),
		"a quiet ring gives all but the record in use");
}

static const struct model_scenario scenarios[] = {
	{ .name = "a ring is filled while it is read",
		.setup = setup_empty,
		.thread = { write_first, read_twice },
		.end = end,
		.deviations = 4 },
	{ .name = "a ring is overwritten while it is read",
		.setup = setup_filled,
		.thread = { write_over, read_twice },
		.end = end,
		.deviations = 4 },
	{ .name = "a reader asks for events and is gone",
		.setup = setup_empty,
		.thread = { write_wanted, ask_and_read, let_time_pass },
		.end = end,
		.deviations = 3 },
	{ .name = "two readers of one ring",
		.setup = setup_filled,
		.thread = { write_over, read_from_middle, read_from_middle },
		.end = end,
		.deviations = 3 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
