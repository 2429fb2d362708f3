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

static struct ht_event *ring_of(uint32_t slot)
{
	return segment_at(&segment, segment_element(&segment, HT_REGION_RINGS, slot,
					    HT_RING_EVENTS * sizeof(struct ht_event)));
}

static void push(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		struct ht_event e = event(i);

		ring_append(thread_at(&segment, SLOT), ring_of(SLOT), &e);
	}
}

static int head(void *ctx, uint64_t *out)
{
	*out = ht_load_acquire_64(&thread_at(&segment, SLOT)->ring_head);
	return 0;
}

static void copy(uint32_t slot, uint32_t index, uint32_t count, struct ht_event *e)
{
	const struct ht_event *r = ring_of(slot) + index;

	for (uint32_t i = 0; i < count; i++) {
		e[i].addr = ht_load_relaxed_64(&r[i].addr);
		e[i].size = ht_load_relaxed_64(&r[i].size);
		e[i].tick = ht_load_relaxed_64(&r[i].tick);
		e[i].site = ht_load_relaxed_32(&r[i].site);
		e[i].kind = ht_load_relaxed_32(&r[i].kind);
	}
}

static int records(void *ctx, uint32_t index, uint32_t count, struct ht_event *e)
{
	copy(SLOT, index, count, e);
	return 0;
}

struct reader {
	uint64_t cursor, lost, given;
};

static void read_once(struct reader *r)
{
	struct ring_source source = { NULL, head, records };
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

/* ---- a reader that must lose nothing, and a writer that waits for it, up to a point ---- */

static uint64_t *gave_up; /* events written over what may be unread */

static void setup_waiting(void)
{
	model_segment(&segment, 1, 1);
	gave_up = model_shared(sizeof(*gave_up));
}

static void write_waiting(void)
{
	struct ht_thread *t = thread_at(&segment, SLOT);

	for (uint64_t i = 0; i < HT_RING_EVENTS + 1; i++) {
		if (i >= ring_limit(t) && i >= ring_limit(t))
			ht_store_relaxed_64(gave_up, 1);
		push(i, i + 1);
	}
}

static void read_and_publish(void)
{
	struct reader r = { 0, 0, 0 };

	for (int i = 0; i < 2; i++) {
		read_once(&r);
		/* TAIL */
		ht_store_release_64(&thread_at(&segment, SLOT)->ring_tail, r.cursor);
		model_require(r.lost == 0 || ht_load_relaxed_64(gave_up) > 0,
			"nothing is lost while the writer waits");
	}
}

/* ---- the shared slot: many writers ---- */

static void setup_shared(void)
{
	model_segment(&segment, 1, 1);
	segment_part(&segment, HT_REGION_RINGS)->pages = 1; /* populated */
}

/* Each word of an event follows from its writer. */
static void push_of(uint64_t writer)
{
	struct ht_event e = { 100 + writer, 200 + writer, 300 + writer, (uint32_t)writer,
		HT_EVENT_FREE };

	ring_push_shared(&segment, &e);
}

static void write_shared_one(void)
{
	push_of(1);
	push_of(2);
}

static void write_shared_other(void)
{
	push_of(3);
}

static int shared_head(void *ctx, uint64_t *out)
{
	*out = ht_load_acquire_64(&thread_at(&segment, 0)->ring_head);
	return 0;
}

static int shared_records(void *ctx, uint32_t index, uint32_t count, struct ht_event *e)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ht_event *r = ring_of(0) + index + i;

		e[i].addr = ht_load_relaxed_64(&r->addr);
		e[i].size = ht_load_relaxed_64(&r->size);
		e[i].tick = ht_load_relaxed_64(&r->tick);
		e[i].site = ht_load_relaxed_32(&r->site);
		e[i].kind = ht_load_relaxed_32(&r->kind);
	}
	return 0;
}

static void read_shared_once(struct reader *r, bool give_up)
{
	struct ring_source source = { NULL, shared_head, shared_records };
	struct ht_event out[4];
	int n = ring_read_shared(&source, &r->cursor, out, 4, give_up, &r->lost);

	for (int i = 0; i < n; i++)
		model_require(
			out[i].site >= 1 && out[i].site <= 3 && out[i].addr == 100 + out[i].site &&
				out[i].size == 200 + out[i].site &&
				out[i].tick == 300 + out[i].site && out[i].kind == HT_EVENT_FREE,
			"every event of the shared slot is whole");
	r->given += n > 0 ? (uint64_t)n : 0;
	model_require(r->given + r->lost == r->cursor, "given and lost are all there were");
}

static void read_shared(void)
{
	struct reader r = { 0, 0, 0 };

	read_shared_once(&r, false);
	read_shared_once(&r, true);
}

static void end_shared(void)
{
	struct reader r = { 0, 0, 0 };

	/* A writer that was late by a lap has overwritten a later event. */
	read_shared_once(&r, true);
	model_require(r.cursor == 3 && r.given < HT_RING_EVENTS,
		"a quiet shared ring gives all but the record in use");
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
	{ .name = "a writer waits for a reader",
		.setup = setup_waiting,
		.thread = { write_waiting, read_and_publish },
		.end = end,
		.deviations = 4 },
	{ .name = "the shared slot is written by two and read",
		.setup = setup_shared,
		.thread = { write_shared_one, write_shared_other, read_shared },
		.end = end_shared,
		.deviations = 3 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
