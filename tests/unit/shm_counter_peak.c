/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/counter_peak: what the counters say was live at the peak, against a list of all
 * blocks. One thread plays all writers, so the truth is known at every event; but for the last
 * tests, where they run at once.
 */
#include "tests/unit/counter_fixture.h"

#include <pthread.h>

#define SLOTS  8u
#define SITES  64u /* besides the catch-all */
#define BLOCKS 2000u

struct composition {
	uint64_t bytes[SITES + 1], blocks[SITES + 1], total;
};

static struct fixture f;
static struct counter_owner owners[SLOTS + 1];
static struct {
	uint64_t size;
	uint32_t site;
} block[BLOCKS];
static struct composition now, peak; /* what truly is and was; */
static struct composition epoch; /* and was when the epoch began */
static uint32_t sites, most_slots; /* in use */

static void begin(uint32_t slots, uint32_t used_sites)
{
	fixture_open(&f, SEGMENT_SMALL);
	counted_owners(&f.s, owners, slots);
	memset(block, 0, sizeof(block));
	memset(&now, 0, sizeof(now));
	memset(&peak, 0, sizeof(peak));
	memset(&epoch, 0, sizeof(epoch));
	sites = used_sites;
	most_slots = slots;
}

static void end(void)
{
	fixture_close(&f);
}

static const struct ht_at_peak *saved_at(uint32_t counter)
{
	return segment_at(
		&f.s, segment_element(&f.s, HT_REGION_AT_PEAK, counter, sizeof(struct ht_at_peak)));
}

/* As readers do it: what was saved in this epoch, or else what is there. */
static void counter_read(struct composition *out, uint32_t counter)
{
	const struct ht_counter *c = counter_at(&f.s, counter);
	const struct ht_at_peak *saved = saved_at(counter);
	uint32_t at = f.s.header->peak_epoch >> HT_SIZE_BITS, site = ht_counter_site(c->key);
	bool is_saved = at != 0 && ht_at_peak_epoch(saved->blocks) == at;
	uint64_t bytes = is_saved ? saved->bytes : c->alloc_bytes - c->free_bytes;

	out->bytes[site] += bytes;
	out->blocks[site] += is_saved ? ht_at_peak_blocks(saved->blocks) : c->allocs - c->frees;
	out->total += bytes;
}

/* The composition of the newest epoch, or the present one, if its total is higher. */
static struct composition composition_read(void)
{
	struct composition out = { .total = 0 };

	for (uint32_t site = 0; site <= SITES; site++) {
		const struct ht_site *e = stack_site(&f.s, site);

		for (uint32_t i = e->counters; i != 0; i = counter_at(&f.s, i)->next)
			counter_read(&out, i);
		if (site == 0 || e->shared != 0)
			counter_read(&out, e->shared);
	}
	return now.total > out.total ? now : out;
}

static bool is_same(const struct composition *a, const struct composition *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void change(uint32_t site, uint64_t blocks, uint64_t bytes)
{
	now.blocks[site] += blocks;
	now.bytes[site] += bytes;
	now.total += bytes;
	if (now.total > peak.total)
		peak = now;
}

static void take(uint32_t slot, uint32_t at, uint32_t site, uint64_t size)
{
	block[at].size = size;
	block[at].site = site;
	counter_alloc(&f.s, &owners[slot], site, size);
	change(site, 1, size);
}

static void give(uint32_t slot, uint32_t at, uint64_t life_ticks)
{
	struct counter_freed e = { .size = block[at].size, .life_ticks = life_ticks };
	uint32_t before = f.s.header->peak_epoch;
	struct composition then = now;

	counter_free(&f.s, &owners[slot], block[at].site, &e);
	if (f.s.header->peak_epoch != before)
		epoch = then;
	change(block[at].site, -1ull, -e.size);
	block[at].size = 0;
}

/* One event. Sizes differ by phase, so that there are hills to climb. */
static void event(uint32_t slot, uint64_t random, uint64_t most)
{
	uint32_t at = (uint32_t)(random % BLOCKS);

	if (block[at].size != 0)
		give(slot, at, random >> 61);
	else
		take(slot, at, 1 + (uint32_t)(random >> 40) % sites, (random >> 20) % most + 1);
}

static uint64_t most_of(int i)
{
	static const uint64_t most[] = { 40, 100000, 500, 3000000, 8 };

	return most[i / 2000 % 5];
}

static bool is_exact(void)
{
	struct composition seen = composition_read();

	return is_same(&seen, &peak) && seen.total == counted_program(&f.s).peak;
}

TEST(one_writer_is_exact)
{
	static const uint32_t count[] = { 1, 2, 7, 64 };

	for (uint32_t i = 0; i < 4; i++) {
		uint64_t random = 3 + i, bad = 0;

		begin(1, count[i]);
		for (int n = 0; n < 20000; n++) {
			event(1, fixture_random(&random), most_of(n));
			if (n < 1000 || n % 8 == 0)
				bad += !is_exact();
		}
		CHECK_INT(bad, 0);
		CHECK(f.s.header->peak_epoch >> HT_SIZE_BITS > 100);
		end();
	}
}

/* A full heap whose blocks are replaced at random: maxima are close together, and each has other
 * blocks. */
TEST(a_plateau)
{
	uint64_t random = 9, bad = 0;

	begin(1, SITES);
	for (int n = 0; n < 30000; n++) {
		uint64_t r = fixture_random(&random);
		uint32_t at = (uint32_t)(r % BLOCKS);

		if (block[at].size)
			give(1, at, 0);
		take(1, at, 1 + (uint32_t)(r >> 40) % SITES, 1 + (r >> 20) % 1000);
		if (n % 8 == 0)
			bad += !is_exact();
	}
	CHECK_INT(bad, 0);
	CHECK(now.total < peak.total);
	end();
}

TEST(of_equal_maxima_the_first)
{
	struct composition seen;

	begin(1, 3);
	take(1, 0, 1, 5000);
	take(1, 1, 2, 3000);
	give(1, 0, 0);
	take(1, 2, 3, 5000);
	give(1, 2, 0);
	take(1, 3, 3, 5000);
	seen = composition_read();
	CHECK_INT(seen.bytes[1], 5000);
	CHECK_INT(seen.bytes[2], 3000);
	CHECK_INT(seen.bytes[3], 0);
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, 1);
	end();
}

TEST(one_block_is_the_peak)
{
	struct composition seen;

	begin(1, 2);
	take(1, 0, 1, 100);
	take(1, 1, 2, 1ull << 30);
	CHECK(is_exact()); /* the peak is now */
	CHECK_INT(f.s.header->peak_epoch, 0);
	give(1, 1, 0);
	give(1, 0, 0);
	seen = composition_read();
	CHECK_INT(seen.bytes[2], 1ull << 30);
	CHECK_INT(seen.blocks[2], 1);
	CHECK_INT(seen.blocks[1], 1);
	take(1, 1, 2, (1ull << 30) + 200);
	CHECK(is_exact()); /* now again, without another epoch */
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, 1);
	end();
}

/* Blocks that come back at the same height save nothing. */
TEST(a_steady_heap_saves_nothing)
{
	begin(1, 2);
	take(1, 0, 1, 100);
	for (int i = 0; i < 1000; i++) {
		take(1, 1, 2, 50);
		give(1, 1, 0);
	}
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, 1);
	end();
}

/* A slot goes to another thread while its wire is set, with its counters. */
TEST(a_slot_passes_on)
{
	struct counter_owner heir = { 0 };

	begin(1, 3);
	take(1, 0, 1, 700);
	take(1, 1, 2, 300);
	thread_release(&f.s, 1);
	CHECK_INT(thread_claim(&f.s, 2000, NULL), 1);
	counter_own(&f.s, &heir, 1);
	owners[1] = heir;
	give(1, 0, 0);
	take(1, 2, 3, 100);
	CHECK(is_exact());
	end();
}

/* Without memory for more counters blocks go to the catch-all's, or slot 0's of the site. */
TEST(counters_used_up)
{
	uint64_t room, random = 21, bad = 0;

	begin(1, 4);
	take(1, 0, 1, 100);
	room = segment_capacity(&f.s, HT_REGION_COUNTERS, sizeof(struct ht_counter));
	f.s.header->counters = (uint32_t)room / 2;
	for (int n = 0; n < 3000; n++) {
		event(1, fixture_random(&random), most_of(n));
		if (n % 100 == 0)
			bad += !is_exact();
	}
	CHECK_INT(bad, 0);
	end();
}

static void take_sampled(uint32_t site, uint64_t size, struct poisson_weight w)
{
	counter_alloc_sampled(&f.s, &owners[1], site, size, &w);
	change(site, w.blocks, w.bytes);
}

static void give_sampled(uint32_t site, uint64_t size, struct poisson_weight w)
{
	struct counter_freed e = { .size = size };

	counter_free_sampled(&f.s, &owners[1], site, &e, &w);
	change(site, -w.blocks, -w.bytes);
}

/* A sampled block counts by its weight; here some that pass the 2^36 bytes which are kept exactly
 * of an epoch's total. */
TEST(sampled_blocks)
{
	const struct poisson_weight w = { .blocks = 7, .bytes = 70000 },
				    large = { .blocks = 3, .bytes = 0x333333333333 };

	begin(1, 3);
	take(1, 0, 1, 100);
	take_sampled(2, 10000, w);
	give(1, 0, 0);
	CHECK(is_exact());
	for (int i = 0; i < 4; i++) {
		take_sampled(2, 10000, w);
		take_sampled(3, 1000, large);
		take(1, 0, 1, 100 + 10 * (uint64_t)i);
		give_sampled(2, 10000, w);
		CHECK(is_exact());
		give(1, 0, 0);
		take_sampled(2, 10000, w);
		CHECK(is_exact());
	}
	end();
}

/* After very many epochs a maximum must pass the last one by a part of it. */
TEST(epochs_do_not_run_out)
{
	uint32_t epochs;

	begin(1, 2);
	take(1, 0, 1, 1000000);
	give(1, 0, 0);
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, 1);
	f.s.header->peak_state += (uint64_t)(HT_EPOCH_EXACT - 1) << HT_AT_PEAK_BITS;
	take(1, 0, 1, 1000001);
	give(1, 0, 0);
	epochs = f.s.header->peak_epoch >> HT_SIZE_BITS;
	CHECK_INT(epochs, HT_EPOCH_EXACT); /* what was left behind is moved on */
	take(1, 0, 1, 1000000 + 1000000 / HT_PEAK_PART);
	give(1, 0, 0);
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, epochs);
	take(1, 0, 1, 1000001 + 1000000 / HT_PEAK_PART);
	give(1, 0, 0);
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, epochs + 1);
	f.s.header->peak_state |= (uint64_t)HT_EPOCH_LAST << HT_AT_PEAK_BITS;
	take(1, 0, 1, 9000000);
	give(1, 0, 0);
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, HT_EPOCH_LAST);
	end();
}

/* ---- several writers ---- */

/* Of n slots together. */
static uint64_t limits(uint64_t of, uint64_t n)
{
	return of / HT_SETTLE_PART > n * HT_SETTLE_LEAST ? of / HT_SETTLE_PART
							 : n * HT_SETTLE_LEAST;
}

/* The bound of shm/counter_peak.h. */
static bool is_within(uint64_t total, uint64_t truth, uint64_t n)
{
	return total <= truth && truth - total <= 4 * limits(truth, n) + truth / HT_PEAK_PART;
}

/* A moment of the program, and one as high as is promised. */
static bool is_near(void)
{
	struct composition seen = composition_read();

	return (is_same(&seen, &epoch) || is_same(&seen, &now)) &&
	       is_within(seen.total, peak.total, most_slots);
}

static uint64_t many_writers(uint32_t first, uint64_t random, double *least)
{
	uint64_t bad = 0;

	begin(2 + random % (SLOTS - 1), SITES);
	for (int n = 0; n < 4000; n++) {
		uint64_t r = fixture_random(&random);
		uint32_t slot = first + (uint32_t)(r >> 50) % (most_slots + 1 - first);

		event(slot, r, most_of(n));
		if (n % 40 == 0)
			bad += !is_near();
	}
	if ((double)composition_read().total / (double)peak.total < *least)
		*least = (double)composition_read().total / (double)peak.total;
	end();
	return bad;
}

TEST(many_writers_are_near)
{
	double least = 1;

	for (uint64_t random = 1; random <= 100; random++)
		CHECK_INT(many_writers(1, random, &least), 0);
	CHECK(least > 0.9);
	printf("# the lowest composition is %.2f %% of the peak\n", 100 * least);
}

/* Slot 0 counts at once, but knows nothing of what others have not settled. */
TEST(and_with_the_shared_slot)
{
	double least = 1;

	for (uint64_t random = 1; random <= 30; random++)
		CHECK_INT(many_writers(0, random, &least), 0);
}

/* One only allocates, another only frees. */
TEST(who_frees_notices_the_fall)
{
	uint64_t bad = 0;

	begin(2, 5);
	for (int round = 1; round < 5; round++) {
		for (uint32_t i = 0; i < BLOCKS; i++)
			take(1, i, 1 + i % 5, 1000 * (uint64_t)round);
		for (uint32_t i = 0; i < BLOCKS; i++) {
			give(2, i, 0);
			bad += !is_near();
		}
		CHECK(is_within(composition_read().total, BLOCKS * 1000ull * (uint64_t)round, 2));
	}
	CHECK_INT(bad, 0);
	end();
}

/* A writer makes the maximum, and sleeps, while others lose most of it. When it frees at last, the
 * total that it remembers is long gone. */
TEST(a_writer_sleeps_with_its_wire_set)
{
	uint32_t epochs;

	begin(3, 3);
	for (uint32_t i = 0; i < 1000; i++)
		take(2, i, 2, 10000);
	take(1, 1000, 1, 3000000);
	CHECK_INT(f.s.header->peak_epoch, 0);
	CHECK_INT(thread_at(&f.s, 1)->share.low, 3000000);
	for (uint32_t i = 0; i < 900; i++)
		give(3, i, 0);
	epochs = f.s.header->peak_epoch;
	CHECK_INT(epochs >> HT_SIZE_BITS, 1);
	give(1, 1000, 0);
	CHECK_INT(f.s.header->peak_epoch, epochs);
	CHECK(is_near());
	end();
}

/* A handler never returned to where the epoch is published: the next to notice a fall does it. */
TEST(an_epoch_left_behind)
{
	begin(1, 2);
	take(1, 0, 1, 100000);
	take(1, 1, 2, 100000);
	f.s.header->peak_state = 1ull << HT_AT_PEAK_BITS | 200000;
	give(1, 0, 0);
	CHECK_INT(f.s.header->peak_epoch >> HT_SIZE_BITS, 1);
	CHECK_INT(f.s.header->peak_least, 200000);
	end();
}

/* ---- at once ---- */

#define THREADS	 8u
#define EVENTS	 4000u
#define PROGRAMS 100u
#define LARGEST	 3000000u

static uint64_t shared[BLOCKS]; /* size, and site above, of blocks of any thread */
static uint64_t held, highest; /* what the program holds, by itself, and events in flight */
static uint64_t program;

static void hold(uint64_t bytes)
{
	uint64_t all = __atomic_add_fetch(&held, bytes, __ATOMIC_SEQ_CST), seen = highest;

	while (all > seen && !__atomic_compare_exchange_n(&highest, &seen, all, false,
				     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static void *run(void *arg)
{
	uint32_t slot = (uint32_t)(uintptr_t)arg;
	uint64_t random = 77 + slot + 1000 * program;

	for (uint32_t i = 0; i < EVENTS; i++) {
		uint64_t r = fixture_random(&random), fresh = 0, old;
		uint32_t site = 1 + (uint32_t)(r >> 40) % SITES;
		struct counter_freed e = { .size = 0 };

		if (r >> 63) {
			fresh = 1 + (r >> 20) % most_of((int)i * 2);
			hold(fresh);
			counter_alloc(&f.s, &owners[slot], site, fresh);
			fresh |= (uint64_t)site << 40;
		}
		old = __atomic_exchange_n(&shared[r % BLOCKS], fresh, __ATOMIC_ACQ_REL);
		e.size = old & ((1ull << 40) - 1);
		if (!old)
			continue;
		counter_free(&f.s, &owners[slot], (uint32_t)(old >> 40), &e);
		hold(-e.size);
	}
	return NULL;
}

static void run_all(void)
{
	pthread_t thread[THREADS];

	begin(THREADS, SITES);
	memset(shared, 0, sizeof(shared));
	held = highest = 0;
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)(i + 1)), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* The total of what is saved is as high as is promised; both may be off by the events in flight. */
TEST(writers_at_once)
{
	double least = 1;

	for (program = 0; program < PROGRAMS; program++) {
		const uint64_t in_flight = (uint64_t)THREADS * LARGEST;
		struct composition seen;

		run_all();
		seen = composition_read();
		CHECK(seen.total <= highest + in_flight);
		CHECK(seen.total + in_flight >= highest ||
			is_within(seen.total + in_flight, highest, THREADS));
		if ((double)seen.total / (double)highest < least)
			least = (double)seen.total / (double)highest;
		end();
	}
	printf("# the lowest of threads is %.2f %% of the peak\n", 100 * least);
}

int main(void)
{
	RUN(one_writer_is_exact);
	RUN(a_plateau);
	RUN(of_equal_maxima_the_first);
	RUN(one_block_is_the_peak);
	RUN(a_steady_heap_saves_nothing);
	RUN(a_slot_passes_on);
	RUN(counters_used_up);
	RUN(sampled_blocks);
	RUN(epochs_do_not_run_out);
	RUN(many_writers_are_near);
	RUN(and_with_the_shared_slot);
	RUN(who_frees_notices_the_fall);
	RUN(a_writer_sleeps_with_its_wire_set);
	RUN(an_epoch_left_behind);
	RUN(writers_at_once);
	return check_end();
}
