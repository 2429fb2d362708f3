/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rings with writers at full speed and readers in threads and in another process. Each word of an
 * event follows from the event's number, so an event put together from two shows.
 */
#include "tests/stress/stress.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include "shm/ring.h"
#include "shm/mapping.h"

#define WRITERS 4u

static uint32_t done; /* writers that have ended */

static struct ht_event event(uint32_t slot, uint64_t i)
{
	return (struct ht_event){ .addr = i * 16 + slot,
		.size = i * 3 + 1,
		.tick = ~i,
		.site = (uint32_t)i,
		.kind = (uint32_t)(i >> 8) % 2 + 1 };
}

static bool is_event(const struct ht_event *e, uint32_t slot, uint64_t i)
{
	struct ht_event want = event(slot, i);

	return memcmp(e, &want, sizeof(want)) == 0;
}

struct at {
	const struct segment *s;
	uint32_t slot;
};

static int head(void *ctx, uint64_t *out)
{
	const struct at *at = ctx;

	*out = ht_load_acquire_64(&thread_at(at->s, at->slot)->ring_head);
	return 0;
}

static int records(void *ctx, uint32_t index, uint32_t count, struct ht_event *e)
{
	const struct at *at = ctx;
	const struct ht_event *r =
		segment_at(at->s, segment_element(at->s, HT_REGION_RINGS,
					  (uint64_t)at->slot * HT_RING_EVENTS + index, sizeof(*e)));

	for (uint32_t i = 0; i < count; i++) {
		e[i].addr = ht_load_relaxed_64(&r[i].addr);
		e[i].size = ht_load_relaxed_64(&r[i].size);
		e[i].tick = ht_load_relaxed_64(&r[i].tick);
		e[i].site = ht_load_relaxed_32(&r[i].site);
		e[i].kind = ht_load_relaxed_32(&r[i].kind);
	}
	return 0;
}

struct reader {
	uint64_t cursor[WRITERS + 1], lost[WRITERS + 1], given[WRITERS + 1];
};

/* Reads once from a ring; counts what is wrong. */
static int read_once(
	const struct segment *s, struct reader *r, uint32_t slot, uint32_t max, uint64_t *bad)
{
	struct at at = { s, slot };
	struct ring_source source = { &at, head, records };
	struct ht_event out[512];
	int n = ring_read(&source, &r->cursor[slot], out, max, &r->lost[slot]);

	for (int i = 0; i < n; i++)
		*bad += !is_event(&out[i], slot, r->cursor[slot] - (uint64_t)(n - i));
	*bad += n < 0;
	r->given[slot] += n > 0 ? (uint64_t)n : 0;
	*bad += r->given[slot] + r->lost[slot] != r->cursor[slot];
	return n;
}

/* Reads all rings until the writers are done and nothing is left; then nothing may be missing. */
static uint64_t read_all(const struct segment *s, const uint32_t *ended)
{
	struct reader r = { { 0 }, { 0 }, { 0 } };
	uint64_t bad = 0, random = 5;
	bool last, more;

	do {
		last = ht_load_acquire_32(ended) == WRITERS;
		more = false;
		for (uint32_t slot = 1; slot <= WRITERS; slot++)
			if (read_once(s, &r, slot, (uint32_t)(fixture_random(&random) % 512 + 1),
				    &bad) > 0)
				more = true;
	} while (!last || more);
	for (uint32_t slot = 1; slot <= WRITERS; slot++)
		bad += r.cursor[slot] != ht_load_relaxed_64(&thread_at(s, slot)->ring_head);
	return bad;
}

static void write_or_read(struct stress_thread *t)
{
	uint32_t slot = t->number + 1;
	struct ht_event *ring;

	if (t->number >= WRITERS) {
		t->bad = read_all(t->s, &done);
		return;
	}
	ring = ring_open(t->s, slot);
	for (uint64_t i = 0; i < STRESS_ROUNDS(3000000); i++) {
		struct ht_event e = event(slot, i);

		ring_append(thread_at(t->s, slot), ring, &e);
	}
	while (ht_load_acquire_32(&done) != t->number) /* in order, so that a store will do */
		sched_yield();
	/* First for the other process: behind the store to `done`, the next writer's could pass. */
	ht_store_release_32(&t->s->header->strings_bytes, t->number + 1);
	ht_store_release_32(&done, t->number + 1);
}

/* Readers read by pread; here all of it is opened, to read side by side. */
static int open_all(const struct segment *s)
{
	int rc = 0;

	for (unsigned i = 0; i < HT_REGION_COUNT && rc == 0; i++)
		rc = mapping_take(s, s->part[i].start, s->part[i].limit - s->part[i].start);
	return rc;
}

TEST(no_event_is_torn)
{
	struct fixture f;
	int status = -1;
	pid_t other;

	fixture_open(&f, SEGMENT_SMALL);
	f.s.header->strings_bytes = 0; /* borrowed: tells the other process how many have ended */
	fflush(NULL);
	other = fork();
	if (other == 0) {
		struct segment s;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(segment_map(&s, f.fd) == 0 && open_all(&s) == 0 &&
					read_all(&s, &s.header->strings_bytes) == 0
				? 0
				: 1);
	}
	CHECK(other > 0);
	CHECK_INT(stress_run(&f.s, write_or_read), 0);
	CHECK(waitpid(other, &status, 0) == other);
	CHECK_INT(status, 0);
	fixture_close(&f);
}

/* The shared slot has many writers: its head counts them all. */
static void push_shared(struct stress_thread *t)
{
	struct ht_event e = event(0, 0);

	for (uint64_t i = 0; i < STRESS_ROUNDS(300000); i++)
		ring_push(t->s, 0, &e);
}

TEST(shared_slot_counts_all)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(stress_run(&f.s, push_shared), 0);
	CHECK_INT(thread_at(&f.s, 0)->ring_head, STRESS_THREADS * STRESS_ROUNDS(300000ull));
	fixture_close(&f);
}

int main(void)
{
	RUN(no_event_is_torn);
	RUN(shared_slot_counts_all);
	return check_end();
}
