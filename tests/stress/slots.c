/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thread slots with more threads than slots, coming and going; a small kernel of our own gives out
 * thread ids again as soon as they are free. No two threads alive may have one slot, and what all
 * of them counted must be in the slots at the end. Site counters and the history are driven as
 * well.
 */
#include "tests/stress/stress.h"

#include "shm/history.h"
#include "shm/site.h"

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

static void count(struct stress_thread *t)
{
	const struct segment *s = t->s;

	for (uint64_t i = 0; i < STRESS_ROUNDS(200000); i++) {
		uint32_t site = (uint32_t)(i % SITES);
		struct site_end end = {
			.size = 24 + site, .life_ticks = i % 100, .temporary = true
		};

		site_alloc(s, site, t->number, 24 + site);
		if (i % 10 != 0)
			site_free(s, site, t->number, &end);
		ht_store_relaxed_64(&s->header->clock_ns, FIXTURE_CREATED_NS + i * 50000);
		history_note(s, FIXTURE_CREATED_NS + i * 50000,
			ht_load_relaxed_64(&s->header->live_bytes));
	}
}

TEST(counters_are_exact)
{
	const uint64_t each = STRESS_ROUNDS(200000ull) * STRESS_THREADS;
	struct fixture f;
	uint64_t live = 0, slots = 0, temporary = 0, peak = 0;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(stress_run(&f.s, count), 0);
	for (uint32_t i = 0; i < SITES; i++) {
		const struct ht_site *e = stack_site(&f.s, i);

		CHECK_INT(e->allocs, each / SITES);
		CHECK_INT(e->frees, each / SITES - (i == 0 ? each / 10 : 0));
		CHECK_INT(e->live_bytes, (e->allocs - e->frees) * (24 + i));
		CHECK(e->peak_bytes >= e->live_bytes);
		CHECK(e->peak_bytes <= e->live_bytes + STRESS_THREADS * (24 + i));
		live += e->live_bytes;
		temporary += e->temporary;
	}
	for (uint32_t i = 0; i < STRESS_THREADS; i++) {
		const struct ht_thread *t = thread_at(&f.s, i);

		temporary -= t->temporary;
		for (uint32_t b = 0; b < HT_SIZE_BUCKETS; b++)
			slots += t->size_alloc_bytes[b] - t->size_free_bytes[b];
	}
	CHECK_INT(f.s.header->live_bytes, live);
	CHECK_INT(slots, live);
	CHECK_INT(temporary, 0);
	CHECK(f.s.header->peak_bytes >= live);
	for (uint32_t i = 0; i < f.s.header->history.points; i++)
		peak = f.s.header->history.point[i] > peak ? f.s.header->history.point[i] : peak;
	CHECK(peak <= f.s.header->peak_bytes);
	CHECK_INT(f.s.header->history.writer, 0);
	CHECK_INT(f.s.header->history.sequence % 2, 0);
	fixture_close(&f);
}

int main(void)
{
	RUN(one_owner_for_each_slot);
	RUN(counters_are_exact);
	return check_end();
}
