/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/share by way of the counters: peaks are exact where one writer counts, and off by a
 * limit of each writer at most where several do. One thread plays them all, so the truth is known
 * at every event.
 */
#include "tests/unit/counter_fixture.h"

#define SLOTS  8u
#define SITES  6u /* besides the catch-all */
#define BLOCKS 3000

static struct fixture f;
static struct counter_owner owners[SLOTS + 1];

static struct {
	uint64_t size;
	uint32_t site;
} block[BLOCKS];

/* What truly is: of each site, and, at 0, of the program. */
static uint64_t live[SITES + 1], peak[SITES + 1];

static void begin(void)
{
	fixture_open(&f, SEGMENT_SMALL);
	counted_owners(&f.s, owners, SLOTS);
	memset(block, 0, sizeof(block));
	memset(live, 0, sizeof(live));
	memset(peak, 0, sizeof(peak));
}

static void change(uint32_t i, uint64_t bytes)
{
	live[i] += bytes;
	if (live[i] > peak[i])
		peak[i] = live[i];
}

/* One event of the owner of `slot`. Sizes differ by phase, so that there are hills to climb. */
static void event(uint32_t slot, uint32_t site, uint64_t random, uint64_t most)
{
	struct counter_freed e = { .life_ticks = random >> 60 };
	uint32_t at = (uint32_t)(random % BLOCKS);

	if (block[at].size != 0) {
		e.size = block[at].size;
		counter_free(&f.s, &owners[slot], block[at].site, &e);
		change(0, -e.size);
		change(block[at].site, -e.size);
		block[at].size = 0;
		return;
	}
	block[at].size = (random >> 20) % most + 1;
	block[at].site = site;
	counter_alloc(&f.s, &owners[slot], site, block[at].size);
	change(0, block[at].size);
	change(site, block[at].size);
}

static uint64_t limit(uint64_t of)
{
	return of / HT_SETTLE_PART > HT_SETTLE_LEAST ? of / HT_SETTLE_PART : HT_SETTLE_LEAST;
}

/* Whether a peak that readers see is as near the true one as shm/counter_batch.h promises for n
 * writers. */
static bool is_near(uint64_t seen, uint64_t truth, uint64_t n)
{
	uint64_t off = seen > truth ? seen - truth : truth - seen;

	/* its own limit is of what a writer took for the peak */
	return off <= n * limit(truth > seen ? truth : seen);
}

static uint64_t most_of(int i)
{
	static const uint64_t most[] = { 40, 100000, 500, 3000000, 8 };

	return most[i / 4000 % 5];
}

TEST(one_writer_is_exact)
{
	uint64_t random = 5, bad = 0;

	begin();
	for (int i = 0; i < 60000; i++) {
		uint64_t r = fixture_random(&random);

		event(1, 1 + (uint32_t)(r >> 40) % SITES, r, most_of(i));
		bad += counted_program(&f.s).peak != peak[0] || counter_live(&f.s, 1) != live[0];
		for (uint32_t site = 1; site <= SITES && i % 16 == 0; site++)
			bad += counted_site(&f.s, site).peak != peak[site];
	}
	CHECK_INT(bad, 0);
	CHECK(peak[0] > 1000000000);
	fixture_close(&f);
}

/* A signal handler left between an addition and the note of it, or before the addition. */
TEST(an_addition_was_left)
{
	for (int added = 0; added < 2; added++) {
		struct ht_share p = { .settled = 100 };
		uint64_t sum = 1000 + (added ? 50 : 0);
		struct counter_batch_adding a = { &p, &sum, 1000, 150 };

		counter_batch_repair(&a);
		CHECK_INT(p.settled, added ? 150 : 100);
		CHECK(a.share == NULL);
		counter_batch_repair(&a); /* nothing is left to do */
		CHECK(counter_batch_settle(&a, &p, &sum, 90000, 1));
		CHECK_INT(sum, 1000 - 100 + 90000);
		CHECK_INT(p.settled, 90000);
		CHECK(a.share == NULL);
	}
}

/* The peak comes with its time, which does not change until there is a higher one. */
TEST(time_of_the_peak)
{
	uint64_t random = 7, bad = 0, at = 0, highest = 0;

	begin();
	for (int i = 0; i < 60000; i++) {
		uint64_t r = fixture_random(&random);

		f.s.header->clock_ns++;
		event(1, 1, r, most_of(i));
		if (peak[0] > highest)
			at = f.s.header->clock_ns;
		highest = peak[0];
		bad += thread_at(&f.s, 1)->peak_ns != at;
	}
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

static void check_near(uint64_t n, uint64_t *bad)
{
	*bad += !is_near(counted_program(&f.s).peak, peak[0], n);
	for (uint32_t site = 1; site <= SITES; site++)
		*bad += !is_near(counted_site(&f.s, site).peak, peak[site], n);
}

/* Any writer at any site, freeing what others allocated. */
static uint64_t many_writers(uint32_t first, uint64_t random)
{
	uint64_t bad = 0;

	begin();
	for (int i = 0; i < 60000; i++) {
		uint64_t r = fixture_random(&random);

		event(first + (uint32_t)(r >> 50) % (SLOTS + 1 - first),
			1 + (uint32_t)(r >> 40) % SITES, r, most_of(i));
		if (i % 8 == 0)
			check_near(SLOTS, &bad);
	}
	fixture_close(&f);
	return bad;
}

TEST(many_writers_are_near)
{
	for (uint64_t random = 1; random < 6; random++)
		CHECK_INT(many_writers(1, random), 0);
}

TEST(and_with_the_shared_slot)
{
	for (uint64_t random = 1; random < 6; random++)
		CHECK_INT(many_writers(0, random), 0);
}

/* Where a site has one writer, it does not matter that the program has many. */
TEST(a_writer_of_its_own_is_exact)
{
	uint64_t random = 11, bad = 0;

	begin();
	for (int i = 0; i < 60000; i++) {
		uint64_t r = fixture_random(&random);
		uint32_t at = (uint32_t)(r % BLOCKS);
		uint32_t site = block[at].size ? block[at].site : 1 + (uint32_t)(r >> 40) % SITES;

		event(site, site, r, most_of(i));
		if (i % 8 != 0)
			continue;
		for (site = 1; site <= SITES; site++)
			bad += counted_site(&f.s, site).peak != peak[site];
		bad += !is_near(counted_program(&f.s).peak, peak[0], SITES);
	}
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

/* The first writer stops at the height of it; one that comes later goes further up. */
TEST(a_late_writer_knows_of_the_others)
{
	struct counter_freed e = { .size = 1000 };

	begin();
	for (int i = 0; i < 1000000; i++)
		counter_alloc(&f.s, &owners[1], 1, 1000);
	for (int i = 0; i < 500000; i++)
		counter_alloc(&f.s, &owners[2], 1, 1000);
	for (int i = 0; i < 500000; i++)
		counter_free(&f.s, &owners[2], 1, &e);
	for (int i = 0; i < 1000000; i++)
		counter_free(&f.s, &owners[1], 1, &e);
	CHECK_INT(counted_program(&f.s).live_bytes, 0);
	CHECK(is_near(counted_program(&f.s).peak, 1500000000, 2));
	CHECK(is_near(counted_site(&f.s, 1).peak, 1500000000, 2));
	fixture_close(&f);
}

/* Between two settlings a writer adds what it allocates to what the others had. */
TEST(a_writer_knows_its_own_part)
{
	struct counter_freed all = { .size = 1000000 };

	begin();
	counter_alloc(&f.s, &owners[1], 1, 1000000);
	for (int i = 0; i < 3000; i++)
		counter_alloc(&f.s, &owners[2], 1, 1);
	CHECK(f.s.header->live_bytes < 1001000);
	counter_free(&f.s, &owners[1], 1, &all);
	CHECK_INT(counted_program(&f.s).peak, 1003000);
	CHECK_INT(counted_site(&f.s, 1).peak, 1003000);
	fixture_close(&f);
}

/* Nothing much happens at any one site, but much in all. */
TEST(many_sites_add_up)
{
	struct counter_freed e = { .size = 3000 };
	const struct ht_thread *t;

	begin();
	for (uint32_t site = 1; site <= 1000; site++)
		counter_alloc(&f.s, &owners[1], site, 3000);
	t = thread_at(&f.s, 1);
	for (uint32_t site = 1; site <= 1000; site++) {
		counter_free(&f.s, &owners[1], site, &e);
		CHECK(t->share.settled - t->live_bytes <= limit(3000000));
	}
	fixture_close(&f);
}

int main(void)
{
	RUN(one_writer_is_exact);
	RUN(an_addition_was_left);
	RUN(time_of_the_peak);
	RUN(many_writers_are_near);
	RUN(and_with_the_shared_slot);
	RUN(a_writer_of_its_own_is_exact);
	RUN(a_late_writer_knows_of_the_others);
	RUN(a_writer_knows_its_own_part);
	RUN(many_sites_add_up);
	return check_end();
}
