/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thread slots with more threads than slots, coming and going; a small kernel of our own gives out
 * thread ids again as soon as they are free. No two threads alive may have one slot, and what all
 * of them counted must be in the slots at the end. Site counters and the history are driven as
 * well.
 */
#include "tests/stress/stress.h"

#include "shm/history.h"
#include "tests/unit/counter_fixture.h"

#define IDS   260u /* more than the 127 slots of a small segment */
#define LIVES 40u /* threads that one of ours plays at once */

static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static uint32_t free_ids[IDS], free_count;
static uint32_t running[IDS + 1]; /* by id: 1 while the thread is there */
static uint32_t holder[4096]; /* by slot: id of who believes to have it */

static uint32_t id_get(void)
{
	uint32_t id;

	pthread_mutex_lock(&kernel);
	id = free_count ? free_ids[--free_count] : 0;
	pthread_mutex_unlock(&kernel);
	if (id)
		ht_store_release_32(&running[id], 1);
	return id;
}

static void id_put(uint32_t id)
{
	ht_store_release_32(&running[id], 0);
	pthread_mutex_lock(&kernel);
	free_ids[free_count++] = id;
	pthread_mutex_unlock(&kernel);
}

static bool is_alive(uint32_t id)
{
	return ht_load_acquire_32(&running[id]) != 0;
}

struct life {
	uint32_t id, slot;
};

static void life_begin(struct stress_thread *t, struct life *l)
{
	uint32_t nobody = 0;

	l->id = id_get();
	if (!l->id)
		return;
	l->slot = thread_claim(t->s, l->id, is_alive);
	if (l->slot)
		t->bad += !ht_cas_relaxed_32(&holder[l->slot], &nobody, l->id);
}

static void life_end(struct stress_thread *t, struct life *l)
{
	if (l->slot)
		t->bad += !ht_cas_relaxed_32(&holder[l->slot], &l->id, 0);
	id_put(l->id);
	l->id = l->slot = 0;
}

static void come_and_go(struct stress_thread *t)
{
	struct life lives[LIVES] = { { 0, 0 } };

	for (uint32_t i = 0; i < STRESS_ROUNDS(300000); i++) {
		uint64_t r = fixture_random(&t->random);
		struct life *l = &lives[r % LIVES];

		if (!l->id)
			life_begin(t, l);
		else if (r >> 40 & 1)
			life_end(t, l);
		/* one count for each round, whoever is there to count it */
		thread_add(l->slot, &thread_at(t->s, l->slot)->reallocs, 1);
	}
	for (uint32_t i = 0; i < LIVES; i++)
		if (lives[i].id)
			life_end(t, &lives[i]);
}

TEST(one_owner_for_each_slot)
{
	struct fixture f;
	uint64_t sum = 0, owners = 0;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint32_t id = 1; id <= IDS; id++)
		free_ids[free_count++] = id;
	CHECK_INT(stress_run(&f.s, come_and_go), 0);
	for (uint32_t i = 0; i < f.s.header->threads; i++) {
		sum += thread_at(&f.s, i)->reallocs;
		owners += thread_at(&f.s, i)->owners;
		CHECK(thread_at(&f.s, i)->tid != HT_NONE);
	}
	CHECK_INT(sum, STRESS_THREADS * STRESS_ROUNDS(300000ull));
	CHECK(owners > f.s.header->threads);
	fixture_close(&f);
}

#define SITES 5u

static struct counter_owner owners[STRESS_THREADS]; /* the first is the shared slot's */

/* Threads 0 and 1 have no slot of their own. */
static uint32_t slot_of(const struct stress_thread *t)
{
	return t->number > 1 ? t->number : 0;
}

static void count(struct stress_thread *t)
{
	const struct segment *s = t->s;
	struct counter_owner *o = &owners[slot_of(t)];

	for (uint64_t i = 0; i < STRESS_ROUNDS(200000); i++) {
		uint32_t site = (uint32_t)(i % SITES);
		struct counter_freed end = {
			.size = 24 + site, .life_ticks = i % 100, .temporary = true
		};

		counter_alloc(s, o, site, 24 + site);
		if (i % 10 != 0)
			counter_free(s, o, site, &end);
		ht_store_relaxed_64(&s->header->clock_ns, FIXTURE_CREATED_NS + i * 50000);
		history_note(s, o->slot, FIXTURE_CREATED_NS + i * 50000, counter_live(s, o->slot));
	}
}

/* How far a peak may be off, with so many writers. */
static uint64_t tolerance(uint64_t peak)
{
	uint64_t limit = peak / HT_SETTLE_PART;

	return STRESS_THREADS * (limit > HT_SETTLE_LEAST ? limit : HT_SETTLE_LEAST);
}

static void check_history(const struct segment *s, uint64_t peak)
{
	const struct ht_history *h = &s->header->history;
	uint64_t highest = 0;

	for (uint32_t i = 0; i < h->points; i++)
		highest = h->point[i] > highest ? h->point[i] : highest;
	CHECK(highest <= peak + tolerance(peak));
	CHECK_INT(h->writer, 0);
	CHECK_INT(h->sequence % 2, 0);
}

TEST(counters_are_exact)
{
	const uint64_t each = STRESS_ROUNDS(200000ull) * STRESS_THREADS;
	struct counted all, sum = { 0 };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	counted_owners(&f.s, owners, STRESS_THREADS - 1);
	CHECK_INT(stress_run(&f.s, count), 0);
	for (uint32_t i = 0; i < SITES; i++) {
		struct counted e = counted_site(&f.s, i);

		CHECK_INT(e.allocs, each / SITES);
		CHECK_INT(e.frees, each / SITES - (i == 0 ? each / 10 : 0));
		CHECK_INT(e.live_bytes, (e.allocs - e.frees) * (24 + i));
		CHECK(e.peak <= e.live_bytes + STRESS_THREADS * (24 + i) + tolerance(e.peak));
		CHECK_INT(e.counters, i == 0 ? 1 : STRESS_THREADS - 1);
		sum.live_bytes += e.live_bytes;
		sum.temporary += e.temporary;
		sum.life[3] += e.life[3];
	}
	all = counted_program(&f.s);
	CHECK_INT(all.live_bytes, sum.live_bytes);
	CHECK_INT(all.temporary, sum.temporary);
	CHECK_INT(all.life[3], sum.life[3]);
	check_history(&f.s, all.peak);
	fixture_close(&f);
}

#define HILL 5000u

static pthread_barrier_t top;

/* Up together, and down together: what is alive at the top is the peak. */
static void climb(struct stress_thread *t)
{
	struct counter_freed end = { .size = 100 };

	for (uint32_t i = 0; i < HILL; i++)
		counter_alloc(t->s, &owners[slot_of(t)], 1, 100);
	pthread_barrier_wait(&top);
	for (uint32_t i = 0; i < HILL; i++)
		counter_free(t->s, &owners[slot_of(t)], 1, &end);
}

TEST(peak_of_all_together)
{
	const uint64_t truth = 100ull * HILL * STRESS_THREADS;
	struct counted all, site;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	counted_owners(&f.s, owners, STRESS_THREADS - 1);
	pthread_barrier_init(&top, NULL, STRESS_THREADS);
	CHECK_INT(stress_run(&f.s, climb), 0);
	pthread_barrier_destroy(&top);
	all = counted_program(&f.s);
	site = counted_site(&f.s, 1);
	CHECK_INT(all.live_bytes, 0);
	CHECK_INT(site.live_bytes, 0);
	CHECK(all.peak <= truth + tolerance(truth) && all.peak + tolerance(truth) >= truth);
	CHECK(site.peak <= truth + tolerance(truth) && site.peak + tolerance(truth) >= truth);
	fixture_close(&f);
}

/* One after another lives a short life in whatever slot there is, and leaves half of its blocks to
 * the next, who may be in another slot. */
static void short_lives(struct stress_thread *t)
{
	static struct counter_owner own[STRESS_THREADS];
	struct counter_owner *o = &own[t->number];
	struct counter_freed end = { .size = 64, .life_ticks = 1 };

	for (uint32_t life = 0; life < STRESS_ROUNDS(3000); life++) {
		uint32_t slot = thread_claim(t->s, 1000 + t->number, NULL);

		t->bad += slot == 0;
		memset(o, 0, sizeof(*o));
		counter_own(t->s, o, slot);
		for (uint32_t i = 0; i < 20; i++)
			counter_alloc(t->s, o, 1 + i % SITES, 64);
		for (uint32_t i = 0; i < 20; i++)
			counter_free(t->s, o, 1 + i % SITES, &end);
		for (uint32_t i = 0; i < SITES; i++)
			counter_alloc(t->s, o, 1 + i, 3000 << i);
		thread_release(t->s, slot);
	}
}

TEST(slots_come_and_go)
{
	const uint64_t lives = STRESS_ROUNDS(3000ull) * STRESS_THREADS;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(stress_run(&f.s, short_lives), 0);
	for (uint32_t i = 0; i < SITES; i++) {
		struct counted e = counted_site(&f.s, 1 + i);

		CHECK_INT(e.allocs, lives * (20 / SITES + 1));
		CHECK_INT(e.frees, lives * (20 / SITES));
		CHECK_INT(e.live_bytes, lives * (3000 << i));
		CHECK_INT(e.size_allocs[counter_size_bucket(3000 << i)], lives);
		CHECK_INT(e.life[1], e.frees);
		CHECK(e.counters < f.s.header->threads);
	}
	CHECK_INT(counted_program(&f.s).allocs, lives * (20 + SITES));
	CHECK(f.s.header->threads <= STRESS_THREADS + 1);
	fixture_close(&f);
}

int main(void)
{
	RUN(one_owner_for_each_slot);
	RUN(counters_are_exact);
	RUN(peak_of_all_together);
	RUN(slots_come_and_go);
	return check_end();
}
