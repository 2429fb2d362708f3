/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/site: bucket borders, and every counter of a site, of a slot and of the program. */
#include "tests/unit/shm_fixture.h"

#include <signal.h>
#include <sys/time.h>
#include "shm/site.h"

TEST(size_buckets)
{
	CHECK_INT(site_size_bucket(0), 0);
	CHECK_INT(site_size_bucket(1), 0);
	for (uint32_t i = 0; i < HT_SIZE_BUCKETS - 1; i++) {
		uint64_t largest = 8ull << i;

		CHECK_INT(site_size_bucket(largest), i);
		CHECK_INT(site_size_bucket(largest + 1), i + 1);
		CHECK_INT(site_size_bucket(largest - 1), i);
	}
	CHECK_INT(8ull << (HT_SIZE_BUCKETS - 2), 1 << 25); /* as the layout says */
	for (uint32_t bit = 26; bit < 64; bit++)
		CHECK_INT(site_size_bucket(1ull << bit), HT_SIZE_BUCKETS - 1);
	CHECK_INT(site_size_bucket(UINT64_MAX), HT_SIZE_BUCKETS - 1);
}

TEST(life_buckets)
{
	CHECK_INT(site_life_bucket(0), 0);
	for (uint32_t i = 0; i < HT_LIFE_BUCKETS - 1; i++) {
		uint64_t border = 1ull << 2 * i; /* bucket i is below it */

		CHECK_INT(site_life_bucket(border - 1), i);
		CHECK_INT(site_life_bucket(border), i + 1);
	}
	for (uint32_t bit = 30; bit < 64; bit++)
		CHECK_INT(site_life_bucket(1ull << bit), HT_LIFE_BUCKETS - 1);
	CHECK_INT(site_life_bucket(UINT64_MAX), HT_LIFE_BUCKETS - 1);
}

static const struct ht_hist *hist(const struct segment *s, uint32_t site)
{
	return segment_at(s, segment_element(s, HT_REGION_HISTS, site, sizeof(struct ht_hist)));
}

TEST(one_block)
{
	struct fixture f;
	const struct ht_site *e;
	const struct ht_thread *a, *b;
	struct site_end end = { .size = 100, .life_ticks = 5, .temporary = true };

	fixture_open(&f, SEGMENT_SMALL);
	f.s.header->clock_ns = 4242;
	e = stack_site(&f.s, 7);
	a = thread_at(&f.s, 2);
	b = thread_at(&f.s, 3);
	site_alloc(&f.s, 7, 2, 100);
	CHECK_INT(e->allocs, 1);
	CHECK_INT(e->alloc_bytes, 100);
	CHECK_INT(e->live_bytes, 100);
	CHECK_INT(e->peak_bytes, 100);
	CHECK_INT(e->frees, 0);
	CHECK_INT(f.s.header->live_bytes, 100);
	CHECK_INT(f.s.header->peak_bytes, 100);
	CHECK_INT(f.s.header->peak_ns, 4242);
	CHECK_INT(a->size_allocs[4], 1); /* 65 to 128 */
	CHECK_INT(a->size_alloc_bytes[4], 100);
	CHECK_INT(hist(&f.s, 7)->size_allocs[4], 1);
	site_free(&f.s, 7, 3, &end); /* by another thread */
	CHECK_INT(e->frees, 1);
	CHECK_INT(e->live_bytes, 0);
	CHECK_INT(e->peak_bytes, 100);
	CHECK_INT(e->temporary, 1);
	CHECK_INT(f.s.header->live_bytes, 0);
	CHECK_INT(f.s.header->peak_bytes, 100);
	CHECK_INT(b->size_frees[4], 1);
	CHECK_INT(b->size_free_bytes[4], 100);
	CHECK_INT(b->life[2], 1); /* 4 to 15 ticks */
	CHECK_INT(b->temporary, 1);
	CHECK_INT(a->size_frees[4], 0);
	CHECK_INT(hist(&f.s, 7)->size_frees[4], 1);
	CHECK_INT(hist(&f.s, 7)->life[2], 1);
	fixture_close(&f);
}

TEST(empty_blocks_count)
{
	struct fixture f;
	struct site_end end = { 0 };

	fixture_open(&f, SEGMENT_SMALL);
	for (int i = 0; i < 3; i++)
		site_alloc(&f.s, 1, 1, 0);
	site_free(&f.s, 1, 1, &end);
	CHECK_INT(stack_site(&f.s, 1)->allocs, 3);
	CHECK_INT(stack_site(&f.s, 1)->frees, 1);
	CHECK_INT(stack_site(&f.s, 1)->temporary, 0);
	CHECK_INT(stack_site(&f.s, 1)->peak_bytes, 0);
	CHECK_INT(thread_at(&f.s, 1)->size_allocs[0], 3);
	CHECK_INT(thread_at(&f.s, 1)->life[0], 1);
	fixture_close(&f);
}

/* The peak is that of the sum, not the sum of the peaks, and a free that is counted before its
 * allocation (another thread's) makes no peak of 2^64. */
TEST(peaks)
{
	struct fixture f;
	struct site_end end = { .size = 1000 };

	fixture_open(&f, SEGMENT_SMALL);
	site_alloc(&f.s, 1, 1, 1000);
	site_free(&f.s, 1, 1, &end);
	site_alloc(&f.s, 2, 1, 600);
	site_alloc(&f.s, 1, 1, 300);
	CHECK_INT(f.s.header->peak_bytes, 1000);
	CHECK_INT(stack_site(&f.s, 1)->peak_bytes, 1000);
	CHECK_INT(stack_site(&f.s, 2)->peak_bytes, 600);
	f.s.header->clock_ns = 99;
	site_alloc(&f.s, 2, 1, 200);
	CHECK_INT(f.s.header->peak_bytes, 1100);
	CHECK_INT(f.s.header->peak_ns, 99);
	site_free(&f.s, 3, 1, &end);
	site_alloc(&f.s, 3, 1, 10);
	CHECK_INT(stack_site(&f.s, 3)->peak_bytes, 0);
	site_alloc(&f.s, 3, 1, 990);
	CHECK_INT(stack_site(&f.s, 3)->live_bytes, 0);
	CHECK_INT(f.s.header->peak_bytes, 1100);
	fixture_close(&f);
}

TEST(catch_all_and_shared_slot)
{
	struct fixture f;
	struct site_end end = { .size = 8 };

	fixture_open(&f, SEGMENT_SMALL);
	for (int i = 0; i < 5; i++)
		site_alloc(&f.s, 0, 0, 8);
	site_free(&f.s, 0, 0, &end);
	CHECK_INT(stack_site(&f.s, 0)->allocs, 5);
	CHECK_INT(stack_site(&f.s, 0)->live_bytes, 32);
	CHECK_INT(thread_at(&f.s, 0)->size_allocs[0], 5);
	CHECK_INT(thread_at(&f.s, 0)->size_free_bytes[0], 8);
	fixture_close(&f);
}

/* Random blocks over sites and slots: all the sums that design law 3 speaks of. */
TEST(sums)
{
	enum { BLOCKS = 20000, SITES = 50, SLOTS = 9 };
	static struct {
		uint64_t size;
		uint32_t site;
	} block[BLOCKS];
	uint64_t random = 99, live = 0, peak = 0, allocs = 0, site_live = 0, slot_live = 0;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	for (int i = 0; i < 200000; i++) {
		uint64_t r = fixture_random(&random), at = r % BLOCKS;
		uint32_t slot = (uint32_t)(r >> 40) % SLOTS;

		if (block[at].size) {
			struct site_end end = { .size = block[at].size, .life_ticks = r >> 50 };

			site_free(&f.s, block[at].site, slot, &end);
			live -= block[at].size;
			block[at].size = 0;
			continue;
		}
		block[at].size = (r >> 20) % 100000 + 1;
		block[at].site = (uint32_t)(r >> 33) % SITES;
		site_alloc(&f.s, block[at].site, slot, block[at].size);
		live += block[at].size;
		peak = live > peak ? live : peak;
		allocs++;
	}
	for (uint32_t i = 0; i < SITES; i++) {
		const struct ht_site *e = stack_site(&f.s, i);
		uint64_t size_allocs = 0, size_frees = 0, life = 0;

		site_live += e->live_bytes;
		allocs -= e->allocs;
		for (uint32_t b = 0; b < HT_SIZE_BUCKETS; b++) {
			size_allocs += hist(&f.s, i)->size_allocs[b];
			size_frees += hist(&f.s, i)->size_frees[b];
		}
		for (uint32_t b = 0; b < HT_LIFE_BUCKETS; b++)
			life += hist(&f.s, i)->life[b];
		CHECK_INT(size_allocs, e->allocs);
		CHECK_INT(size_frees, e->frees);
		CHECK_INT(life, e->frees);
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		for (uint32_t b = 0; b < HT_SIZE_BUCKETS; b++)
			slot_live += thread_at(&f.s, i)->size_alloc_bytes[b] -
				     thread_at(&f.s, i)->size_free_bytes[b];
	CHECK_INT(f.s.header->live_bytes, live);
	CHECK_INT(f.s.header->peak_bytes, peak);
	CHECK_INT(site_live, live);
	CHECK_INT(slot_live, live);
	CHECK_INT(allocs, 0);
	fixture_close(&f);
}

/* A handler that frees, between any two instructions of a thread that counts, alone in its process:
 * neither may lose a count. */
#define HANDLED 1000

static struct fixture interrupted;
static volatile sig_atomic_t handled;

static void count_in_handler(int number)
{
	struct site_end end = { .size = 3 };

	site_free(&interrupted.s, 1, 0, &end);
	handled = handled + 1;
}

TEST(counts_in_a_handler)
{
	struct itimerval often = { { 0, 30 }, { 0, 30 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = count_in_handler };
	uint64_t allocs = 0;
	const struct ht_site *e;

	fixture_open(&interrupted, SEGMENT_SMALL);
	interrupted.s.single_threaded = "\1";
	handled = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < HANDLED; allocs++)
		site_alloc(&interrupted.s, 1, 1, 5);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	e = stack_site(&interrupted.s, 1);
	CHECK_INT(e->allocs, allocs);
	CHECK_INT(e->frees, handled);
	CHECK_INT(e->live_bytes, 5 * allocs - 3 * (uint64_t)handled);
	CHECK_INT(interrupted.s.header->live_bytes, 5 * allocs - 3 * (uint64_t)handled);
	fixture_close(&interrupted);
}

TEST(counts_alone)
{
	uint64_t counter = 40;

	CHECK_INT(ht_take_add_alone_64(&counter, 2), 40);
	CHECK_INT(ht_take_add_alone_64(&counter, (uint64_t)-3), 42);
	CHECK_INT(counter, 39);
	ht_add_alone_64(&counter, 1ull << 40);
	ht_add_alone_64(&counter, (uint64_t)-1);
	CHECK_INT(counter, (1ll << 40) + 38);
}

int main(void)
{
	RUN(size_buckets);
	RUN(life_buckets);
	RUN(one_block);
	RUN(empty_blocks_count);
	RUN(peaks);
	RUN(catch_all_and_shared_slot);
	RUN(sums);
	RUN(counts_in_a_handler);
	RUN(counts_alone);
	return check_end();
}
