/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/ring by one thread: order, wrapping, and that each event is either given out whole
 * or counted as lost. A reader's view between two looks is played by a source that pushes.
 */
#include "tests/unit/shm_fixture.h"

#include "shm/ring.h"

#define SLOT 3u

struct reader {
	const struct segment *s;
	int fd;
	uint32_t slot;
	bool give_up;
	uint64_t cursor, lost, given, bad;
	uint32_t push_during; /* events to push while records are copied, once */
	int head_error, record_error;
};

static struct ht_event event(uint64_t i)
{
	return (struct ht_event){ .addr = i * 16 + 16,
		.size = i * 3,
		.tick = i * 5,
		.site = (uint32_t)(i * 7),
		.kind = i % 2 ? HT_EVENT_FREE : HT_EVENT_ALLOC };
}

static bool is_event(const struct ht_event *e, uint64_t i)
{
	struct ht_event want = event(i);

	return memcmp(e, &want, sizeof(want)) == 0;
}

static void push(const struct segment *s, uint32_t slot, uint64_t count)
{
	struct ht_event *ring = slot && count ? ring_open(s, slot) : NULL;

	for (uint64_t i = 0; i < count; i++) {
		struct ht_event e = event(thread_at(s, slot)->ring_head);

		if (slot)
			ring_append(thread_at(s, slot), ring, &e);
		else
			ring_push_shared(s, &e);
	}
}

static int head(void *ctx, uint64_t *out)
{
	const struct reader *r = ctx;

	*out = ht_load_acquire_64(&thread_at(r->s, r->slot)->ring_head);
	return r->head_error;
}

static int records(void *ctx, uint32_t index, uint32_t count, struct ht_event *e)
{
	struct reader *r = ctx;
	uint64_t at = segment_element(
		r->s, HT_REGION_RINGS, (uint64_t)r->slot * HT_RING_EVENTS + index, sizeof(*e));

	if (r->record_error)
		return r->record_error;
	push(r->s, r->slot, r->push_during);
	r->push_during = 0;
	/* As a reader of the file: where no memory was taken, it finds zeros. */
	return pread(r->fd, e, count * sizeof(*e), (off_t)at) == (ssize_t)(count * sizeof(*e))
		       ? 0
		       : -EIO;
}

/* Reads at most `max`; checks that what comes is the run that ends at the cursor. */
static int read_some(struct reader *r, uint32_t max)
{
	static struct ht_event out[2 * HT_RING_EVENTS];
	struct ring_source source = { r, head, records };
	int n = r->slot ? ring_read(&source, &r->cursor, out, max, &r->lost)
			: ring_read_shared(&source, &r->cursor, out, max, r->give_up, &r->lost);

	for (int i = 0; i < n; i++)
		r->bad += !is_event(&out[i], r->cursor - (uint64_t)n + (uint64_t)i);
	if (n > 0)
		r->given += (uint64_t)n;
	r->bad += r->given + r->lost != r->cursor;
	return n;
}

static struct reader reader_of(const struct fixture *f)
{
	return (struct reader){ .s = &f->s, .fd = f->fd, .slot = SLOT };
}

TEST(empty)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	CHECK_INT(read_some(&r, 10), 0);
	CHECK_INT(r.cursor, 0);
	CHECK_INT(r.lost, 0);
	fixture_close(&f);
}

TEST(order_and_paging)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	push(&f.s, SLOT, 10);
	CHECK_INT(read_some(&r, 4), 4);
	CHECK_INT(read_some(&r, 0), 0);
	CHECK_INT(read_some(&r, 4), 4);
	CHECK_INT(read_some(&r, 4), 2);
	CHECK_INT(read_some(&r, 4), 0);
	CHECK_INT(r.lost, 0);
	CHECK_INT(r.bad, 0);
	fixture_close(&f);
}

/* How much of a ring is readable after `count` events: the record of the next one may be half
 * written, so one less than all. */
static void check_lag(uint64_t count, uint64_t lost)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	push(&f.s, SLOT, count);
	CHECK_INT(read_some(&r, 2 * HT_RING_EVENTS), count - lost);
	CHECK_INT(r.lost, lost);
	CHECK_INT(r.cursor, count);
	CHECK_INT(r.bad, 0);
	fixture_close(&f);
}

TEST(wrap)
{
	check_lag(HT_RING_EVENTS - 1, 0);
	check_lag(HT_RING_EVENTS, 1);
	check_lag(HT_RING_EVENTS + 1, 2);
	check_lag(3 * HT_RING_EVENTS + 17, 2 * HT_RING_EVENTS + 18);
}

/* The writer comes round while records are copied: what it may have touched is thrown away. */
static void check_overtaken(uint32_t before, uint32_t during, int given)
{
	struct fixture f;
	struct reader r;
	uint64_t oldest;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	push(&f.s, SLOT, before);
	r.push_during = during;
	CHECK_INT(read_some(&r, 2 * HT_RING_EVENTS), given);
	CHECK_INT(r.bad, 0);
	oldest = before + during < HT_RING_EVENTS ? 0 : before + during - HT_RING_EVENTS + 1;
	CHECK(r.cursor >= oldest);
	CHECK_INT(r.given + r.lost, r.cursor);
	/* The rest is still readable. */
	while (read_some(&r, 100) > 0)
		;
	CHECK_INT(r.cursor, before + during);
	CHECK_INT(r.bad, 0);
	fixture_close(&f);
}

TEST(overtaken)
{
	check_overtaken(10, 0, 10);
	check_overtaken(10, 5, 10);
	check_overtaken(10, HT_RING_EVENTS - 10, 9);
	check_overtaken(10, HT_RING_EVENTS - 1, 0);
	check_overtaken(10, 3 * HT_RING_EVENTS, 0);
	check_overtaken(HT_RING_EVENTS - 1, 1, HT_RING_EVENTS - 2);
	check_overtaken(HT_RING_EVENTS - 1, 100, HT_RING_EVENTS - 101);
}

TEST(accounting)
{
	struct fixture f;
	struct reader r;
	uint64_t random = 7;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	for (int i = 0; i < 400; i++) {
		push(&f.s, SLOT, fixture_random(&random) % 4800);
		if (fixture_random(&random) % 4 == 0)
			r.push_during = (uint32_t)(fixture_random(&random) % 24000);
		CHECK(read_some(&r, (uint32_t)(fixture_random(&random) % 12000)) >= 0);
	}
	while (read_some(&r, 1000) > 0)
		;
	CHECK_INT(r.bad, 0);
	CHECK(r.lost > 0 && r.given > 0);
	CHECK_INT(r.given + r.lost, thread_at(&f.s, SLOT)->ring_head);
	fixture_close(&f);
}

/* The shared slot's events come out whole and in order, like any other's. */
TEST(shared_slot)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	r.slot = 0;
	CHECK_INT(read_some(&r, 100), 0);
	push(&f.s, 0, 5);
	CHECK_INT(read_some(&r, 3), 3);
	CHECK_INT(read_some(&r, 100), 2);
	push(&f.s, 0, HT_RING_EVENTS + 10);
	CHECK_INT(read_some(&r, 2 * HT_RING_EVENTS), HT_RING_EVENTS - 1);
	CHECK_INT(r.lost, 11);
	CHECK_INT(r.bad, 0);
	fixture_close(&f);
}

/* A writer has taken a number, and was interrupted before its record was whole. */
TEST(shared_slot_unfinished)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	r.slot = 0;
	push(&f.s, 0, 2);
	ht_add_relaxed_64(&thread_at(&f.s, 0)->ring_head, 1);
	push(&f.s, 0, 2);
	CHECK_INT(read_some(&r, 100), 2);
	CHECK_INT(read_some(&r, 100), -EAGAIN);
	CHECK_INT(r.lost, 0);
	r.give_up = true;
	CHECK_INT(read_some(&r, 100), 2);
	CHECK_INT(r.lost, 1);
	CHECK_INT(r.cursor, 5);
	/* Its place is used again, with the mark of another lap. */
	push(&f.s, 0, HT_RING_EVENTS);
	r.give_up = false;
	CHECK_INT(read_some(&r, 2 * HT_RING_EVENTS), HT_RING_EVENTS - 1);
	CHECK_INT(r.bad, 0);
	fixture_close(&f);
}

/* How far an owner may write before it overwrites what is unread: as far as a reader gets it all.
 */
TEST(limit)
{
	struct fixture f;
	struct reader r;
	struct ht_thread *t;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	t = thread_at(&f.s, SLOT);
	for (uint64_t i = 0; i < 5; i++) {
		push(&f.s, SLOT, ring_limit(t) - t->ring_head);
		CHECK_INT(read_some(&r, HT_RING_EVENTS - 7), HT_RING_EVENTS - 7);
		t->ring_tail = r.cursor;
	}
	CHECK_INT(r.lost, 0);
	CHECK_INT(r.bad, 0);
	/* One more is too many. */
	push(&f.s, SLOT, ring_limit(t) - t->ring_head + 1);
	read_some(&r, HT_RING_EVENTS);
	CHECK_INT(r.lost, 1);
	fixture_close(&f);
}

/* A small segment has fewer rings than slots: then events are only counted. */
TEST(no_ring)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	push(&f.s, 100, 3);
	CHECK_INT(thread_at(&f.s, 100)->ring_head, 3);
	CHECK(!ring_open(&f.s, 100));
	fixture_close(&f);
}

/* No memory for the ring at first: those events were counted, but never written. */
TEST(unwritten_records_are_lost)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	ht_store_relaxed_64(&thread_at(&f.s, SLOT)->ring_head, 4);
	push(&f.s, SLOT, 3);
	r = reader_of(&f);
	CHECK_INT(read_some(&r, 2), 2);
	CHECK_INT(r.lost, 4);
	CHECK_INT(read_some(&r, 100), 1);
	CHECK_INT(r.lost, 4);
	CHECK_INT(r.bad, 0);
	fixture_close(&f);
}

static uint64_t heads_asked;

/* Each time it is asked, a hostile program's head is far beyond the last one. */
static int head_running(void *ctx, uint64_t *out)
{
	*out = ++heads_asked * HT_RING_EVENTS;
	return heads_asked < 1000 ? 0 : -EPROTO;
}

static int records_empty(void *ctx, uint32_t index, uint32_t count, struct ht_event *e)
{
	memset(e, 0, count * sizeof(*e));
	return 0;
}

TEST(a_head_that_runs_away)
{
	const struct ring_source source = { NULL, head_running, records_empty };
	struct ht_event out[8];
	uint64_t cursor = 0, lost = 0;

	heads_asked = 0;
	CHECK_INT(ring_read(&source, &cursor, out, 8, &lost), 0);
	CHECK(heads_asked < 1000);
	CHECK_INT(lost, cursor);
}

TEST(rings_do_not_overlap)
{
	struct fixture f;
	struct reader r;
	uint32_t slots;

	fixture_open(&f, SEGMENT_SMALL);
	slots = (uint32_t)segment_capacity(
		&f.s, HT_REGION_RINGS, HT_RING_EVENTS * sizeof(struct ht_event));
	for (uint32_t i = 1; i < slots; i++) {
		CHECK_INT(
			commit_range(&f.s, segment_element(&f.s, HT_REGION_THREADS, i, 1024), 1024),
			0);
		push(&f.s, i, HT_RING_EVENTS + i);
	}
	for (uint32_t i = 1; i < slots; i++) {
		r = (struct reader){ .s = &f.s, .fd = f.fd, .slot = i };
		CHECK_INT(read_some(&r, HT_RING_EVENTS), HT_RING_EVENTS - 1);
		CHECK_INT(r.bad, 0);
	}
	fixture_close(&f);
}

TEST(errors)
{
	struct fixture f;
	struct reader r;

	fixture_open(&f, SEGMENT_SMALL);
	push(&f.s, SLOT, 10);
	r = reader_of(&f);
	r.record_error = -EIO;
	CHECK_INT(read_some(&r, 10), -EIO);
	r.record_error = 0;
	r.head_error = -EBADF;
	CHECK_INT(read_some(&r, 10), -EBADF);
	CHECK_INT(r.cursor, 0);
	CHECK_INT(r.lost, 0);
	r.head_error = 0;
	r.cursor = 11; /* a head that went back */
	CHECK_INT(read_some(&r, 10), -EPROTO);
	fixture_close(&f);
}

int main(void)
{
	RUN(empty);
	RUN(order_and_paging);
	RUN(wrap);
	RUN(overtaken);
	RUN(accounting);
	RUN(shared_slot);
	RUN(shared_slot_unfinished);
	RUN(limit);
	RUN(no_ring);
	RUN(unwritten_records_are_lost);
	RUN(a_head_that_runs_away);
	RUN(rings_do_not_overlap);
	RUN(errors);
	return check_end();
}
