/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/counter: every counter of a site, of a slot and of the program, and who has it. */
#include "tests/unit/counter_fixture.h"

#include <signal.h>
#include <sys/time.h>

#define SLOTS 8u /* besides slot 0 */

static struct fixture f;
static struct counter_owner owners[SLOTS + 1];

static void begin(void)
{
	fixture_open(&f, SEGMENT_SMALL);
	counted_owners(&f.s, owners, SLOTS);
}

static void end(void)
{
	fixture_close(&f);
}

static void take(uint32_t slot, uint32_t site, uint64_t size)
{
	counter_alloc(&f.s, &owners[slot], site, size);
}

static void give(uint32_t slot, uint32_t site, uint64_t size, uint64_t life_ticks)
{
	struct counter_freed e = { .size = size, .life_ticks = life_ticks };

	counter_free(&f.s, &owners[slot], site, &e);
}

TEST(size_buckets)
{
	CHECK_INT(counter_size_bucket(0), 0);
	CHECK_INT(counter_size_bucket(1), 0);
	for (uint32_t i = 0; i < HT_SIZE_BUCKETS - 1; i++) {
		uint64_t largest = 8ull << i;

		CHECK_INT(counter_size_bucket(largest), i);
		CHECK_INT(counter_size_bucket(largest + 1), i + 1);
		CHECK_INT(counter_size_bucket(largest - 1), i);
	}
	CHECK_INT(8ull << (HT_SIZE_BUCKETS - 2), 1 << 25); /* as the layout says */
	for (uint32_t bit = 26; bit < 64; bit++)
		CHECK_INT(counter_size_bucket(1ull << bit), HT_SIZE_BUCKETS - 1);
	CHECK_INT(counter_size_bucket(UINT64_MAX), HT_SIZE_BUCKETS - 1);
}

TEST(life_buckets)
{
	CHECK_INT(counter_life_bucket(0), 0);
	for (uint32_t i = 0; i < HT_LIFE_BUCKETS - 1; i++) {
		uint64_t border = 1ull << 2 * i; /* bucket i is below it */

		CHECK_INT(counter_life_bucket(border - 1), i);
		CHECK_INT(counter_life_bucket(border), i + 1);
	}
	for (uint32_t bit = 30; bit < 64; bit++)
		CHECK_INT(counter_life_bucket(1ull << bit), HT_LIFE_BUCKETS - 1);
	CHECK_INT(counter_life_bucket(UINT64_MAX), HT_LIFE_BUCKETS - 1);
}

TEST(one_block)
{
	struct counter_freed e = { .size = 100, .life_ticks = 5, .temporary = true };
	const struct ht_thread *a, *b;
	struct counted site;

	begin();
	f.s.header->clock_ns = 4242;
	a = thread_at(&f.s, 2);
	b = thread_at(&f.s, 3);
	take(2, 7, 100);
	site = counted_site(&f.s, 7);
	CHECK_INT(site.allocs, 1);
	CHECK_INT(site.frees, 0);
	CHECK_INT(site.alloc_bytes, 100);
	CHECK_INT(site.live_bytes, 100);
	CHECK_INT(site.peak, 100);
	CHECK_INT(site.size_allocs[4], 1); /* 65 to 128 */
	CHECK_INT(a->size[4].allocs, 1);
	CHECK_INT(a->size[4].alloc_bytes, 100);
	CHECK_INT(a->peak_ns, 4242);
	counter_free(&f.s, &owners[3], 7, &e); /* by another thread */
	site = counted_site(&f.s, 7);
	CHECK_INT(site.frees, 1);
	CHECK_INT(site.live_bytes, 0);
	CHECK_INT(site.peak, 100);
	CHECK_INT(site.temporary, 1);
	CHECK_INT(site.size_frees[4], 1);
	CHECK_INT(site.life[2], 1); /* 4 to 15 ticks */
	CHECK_INT(site.counters, 2);
	CHECK_INT(b->size[4].frees, 1);
	CHECK_INT(b->size[4].free_bytes, 100);
	CHECK_INT(b->life[2], 1);
	CHECK_INT(b->temporary, 1);
	CHECK_INT(a->size[4].frees, 0);
	CHECK_INT(counted_program(&f.s).live_bytes, 0);
	CHECK_INT(counted_program(&f.s).peak, 100);
	end();
}

/* A block as the live table has it: its number tells whose it is, and so does its end. */
static uint32_t take_block(uint32_t slot, uint32_t site, uint64_t size)
{
	struct counter_owner *o = &owners[slot];
	uint32_t number = counter_prepare(&f.s, o, &o->counter[site % COUNTER_SITES], site, size);

	counter_alloc_at(&f.s, o, number, size);
	return number;
}

static void foreign_are(uint32_t slot, uint64_t frees, uint64_t bytes)
{
	CHECK_INT(thread_at(&f.s, slot)->foreign_frees, frees);
	CHECK_INT(thread_at(&f.s, slot)->foreign_bytes, bytes);
}

TEST(blocks_tell_who_allocated)
{
	const struct poisson_weight w = { .blocks = 3, .bytes = 3000 };
	struct counter_freed e = { .size = 100 };
	uint32_t number, of_none;

	begin();
	number = take_block(2, 7, 100);
	of_none = take_block(0, 7, 100);
	CHECK(number != of_none);
	CHECK_INT(ht_owner_site((uint32_t)owners[1].owners[number]), 7);
	CHECK_INT(ht_owner_slot((uint32_t)owners[1].owners[number]), 2);
	CHECK_INT(ht_owner_site((uint32_t)owners[1].owners[of_none]), 7);
	CHECK_INT(ht_owner_slot((uint32_t)owners[1].owners[of_none]), 0);
	CHECK_INT(counter_site(&owners[3], number), 7);
	take_block(2, 7, 100);
	take_block(2, 7, 100);
	CHECK_INT(take_block(2, 7, 100), number);
	CHECK_INT(counter_free_block(&f.s, &owners[2], number, &e), 7);
	foreign_are(2, 0, 0);
	CHECK_INT(counter_free_block(&f.s, &owners[3], number, &e), 7);
	foreign_are(3, 1, 100);
	CHECK_INT(counter_free_sampled_block(&f.s, &owners[3], number, &e, &w), 7);
	foreign_are(3, 4, 3100);
	/* Who cannot tell does not: slot 0 frees, or has allocated. */
	CHECK_INT(counter_free_block(&f.s, &owners[0], number, &e), 7);
	CHECK_INT(counter_free_block(&f.s, &owners[3], of_none, &e), 7);
	foreign_are(0, 0, 0);
	foreign_are(2, 0, 0);
	foreign_are(3, 4, 3100);
	CHECK_INT(counted_site(&f.s, 7).allocs, 5);
	CHECK_INT(counted_site(&f.s, 7).frees, 7); /* one of them for three */
	CHECK_INT(thread_at(&f.s, 3)->size[4].frees, 5);
	end();
}

TEST(empty_blocks_count)
{
	struct counted site;

	begin();
	for (int i = 0; i < 3; i++)
		take(1, 1, 0);
	give(1, 1, 0, 0);
	site = counted_site(&f.s, 1);
	CHECK_INT(site.allocs, 3);
	CHECK_INT(site.frees, 1);
	CHECK_INT(site.temporary, 0);
	CHECK_INT(site.peak, 0);
	CHECK_INT(site.life[0], 1);
	CHECK_INT(thread_at(&f.s, 1)->size[0].allocs, 3);
	CHECK_INT(counted_program(&f.s).life[0], 1);
	end();
}

/* A block that one thread frees before another has counted it makes no peak of 2^64. */
TEST(freed_before_counted)
{
	begin();
	give(1, 3, 1000, 0);
	take(2, 3, 10);
	CHECK_INT(counted_site(&f.s, 3).peak, 0);
	CHECK_INT(counted_program(&f.s).peak, 0);
	take(2, 3, 990);
	CHECK_INT(counted_site(&f.s, 3).live_bytes, 0);
	CHECK_INT(counted_site(&f.s, 3).peak, 0);
	CHECK_INT(counted_program(&f.s).peak, 0);
	end();
}

/* With one thread the first events of a counter, which stay below its limit, write nothing that is
 * shared. */
TEST(a_new_counter_is_settled)
{
	static const char yes = 1, no;

	begin();
	f.s.single_threaded = &yes;
	take(1, 1, 1000);
	CHECK_INT(stack_site(&f.s, 1)->live_bytes, 0);
	CHECK_INT(counted_site(&f.s, 1).peak, 1000);
	give(1, 1, 1000, 0);
	take(1, 1, 900);
	CHECK_INT(stack_site(&f.s, 1)->live_bytes, 0);
	CHECK_INT(counted_site(&f.s, 1).peak, 1000);
	take(1, 1, HT_SETTLE_LEAST);
	CHECK_INT(stack_site(&f.s, 1)->live_bytes, HT_SETTLE_LEAST + 900);
	/* Later there are more threads: each knows what the others have settled. */
	f.s.single_threaded = &no;
	take(3, 1, 10);
	CHECK_INT(stack_site(&f.s, 1)->live_bytes, HT_SETTLE_LEAST + 910);
	CHECK_INT(counted_site(&f.s, 1).peak, HT_SETTLE_LEAST + 910);
	/* Who begins with the free of another's block settles. */
	f.s.single_threaded = &yes;
	give(4, 1, 10, 0);
	CHECK_INT(stack_site(&f.s, 1)->live_bytes, HT_SETTLE_LEAST + 900);
	end();
}

/* Nothing that threads share is written by what goes up and down by a few blocks. */
TEST(a_hot_site_is_private)
{
	uint64_t program, site;

	begin();
	for (uint32_t slot = 1; slot <= 2; slot++) {
		take(slot, 1, 100);
		give(slot, 1, 100, 0);
	}
	program = f.s.header->live_bytes;
	site = stack_site(&f.s, 1)->live_bytes;
	for (int i = 0; i < 1000; i++)
		for (uint32_t slot = 1; slot <= 2; slot++) {
			take(slot, 1, 100);
			CHECK_INT(f.s.header->live_bytes, program);
			CHECK_INT(stack_site(&f.s, 1)->live_bytes, site);
			give(slot, 1, 100, 0);
		}
	CHECK_INT(f.s.header->counters, 3);
	end();
}

/* Two sites that share an entry of what an owner remembers, turn by turn. */
TEST(sites_that_meet)
{
	const uint32_t other = 1 + COUNTER_SITES;

	begin();
	CHECK_INT(commit_range(&f.s,
			  segment_element(&f.s, HT_REGION_SITES, other, sizeof(struct ht_site)),
			  sizeof(struct ht_site)),
		0);
	for (int i = 0; i < 10; i++) {
		take(1, 1, 100);
		take(1, other, 5);
	}
	CHECK_INT(counted_site(&f.s, 1).allocs, 10);
	CHECK_INT(counted_site(&f.s, other).alloc_bytes, 50);
	CHECK_INT(counted_site(&f.s, 1).counters, 1);
	CHECK_INT(f.s.header->counters, 3);
	end();
}

/* A slot goes to another thread with its counters. */
TEST(slot_passes_on)
{
	struct counter_owner heir = { 0 };

	begin();
	take(4, 1, 100);
	counter_own(&f.s, &heir, 4);
	counter_alloc(&f.s, &heir, 1, 60);
	counter_alloc(&f.s, &heir, 1, 200);
	CHECK_INT(counted_site(&f.s, 1).counters, 1);
	CHECK_INT(counted_site(&f.s, 1).allocs, 3);
	CHECK_INT(counted_site(&f.s, 1).peak, 360);
	CHECK_INT(counted_site(&f.s, 1).size_allocs[4], 1);
	CHECK_INT(counted_program(&f.s).peak, 360);
	end();
}

TEST(catch_all_and_shared_slot)
{
	begin();
	for (int i = 0; i < 5; i++)
		take(0, 0, 8);
	give(0, 0, 8, 70);
	take(3, 0, 300); /* by a thread that has a slot */
	CHECK_INT(counted_site(&f.s, 0).allocs, 6);
	CHECK_INT(counted_site(&f.s, 0).live_bytes, 332);
	CHECK_INT(counted_site(&f.s, 0).size_allocs[6], 1);
	CHECK_INT(counted_site(&f.s, 0).life[4], 1);
	CHECK_INT(counted_site(&f.s, 0).counters, 1);
	CHECK_INT(thread_at(&f.s, 0)->size[0].allocs, 5);
	CHECK_INT(thread_at(&f.s, 0)->size[0].free_bytes, 8);
	CHECK_INT(thread_at(&f.s, 3)->size[6].allocs, 1);
	/* slot 0 at another site */
	take(0, 9, 50);
	give(0, 9, 50, 0);
	CHECK_INT(counted_site(&f.s, 9).frees, 1);
	CHECK_INT(counted_site(&f.s, 9).peak, 50);
	CHECK_INT(f.s.header->live_bytes + thread_at(&f.s, 3)->live_bytes -
			  thread_at(&f.s, 3)->share.settled,
		332);
	CHECK_INT(counter_live(&f.s, 3), 332);
	CHECK_INT(f.s.header->counters_refused, 0);
	end();
}

/* When private counters are used up, each site still has one that all share. */
TEST(private_counters_used_up)
{
	struct counted site;

	begin();
	take(1, 1, 100);
	f.s.header->counters =
		(uint32_t)(segment_capacity(&f.s, HT_REGION_COUNTERS, sizeof(struct ht_counter)) /
			   2);
	for (uint32_t slot = 0; slot <= 3; slot++)
		for (uint32_t i = 0; i < 10; i++) {
			take(slot, 1, 100);
			take(slot, 2, 20 + i);
			give(slot, 2, 20 + i, i);
		}
	site = counted_site(&f.s, 1);
	CHECK_INT(site.allocs, 41);
	CHECK_INT(site.counters, 2); /* slot 1's and the shared one */
	site = counted_site(&f.s, 2);
	CHECK_INT(site.frees, 40);
	CHECK_INT(site.counters, 1);
	CHECK_INT(site.size_allocs[2], 40);
	CHECK_INT(site.life[1] + site.life[2] + site.life[0], 40);
	CHECK_INT(site.life[0], 4);
	CHECK_INT(f.s.header->counters_refused, 0);
	CHECK_INT(counted_program(&f.s).allocs, 81);
	end();
}

/* Without any counter, blocks count at the catch-all; what is known of the site goes on. */
TEST(counters_used_up)
{
	begin();
	take(1, 1, 100);
	f.s.header->counters =
		(uint32_t)segment_capacity(&f.s, HT_REGION_COUNTERS, sizeof(struct ht_counter));
	take(1, 1, 100);
	take(1, 2, 30);
	give(1, 2, 30, 0);
	take(2, 1, 50);
	CHECK_INT(counted_site(&f.s, 1).live_bytes, 200);
	CHECK_INT(counted_site(&f.s, 2).allocs, 0);
	CHECK_INT(counted_site(&f.s, 0).allocs, 2);
	CHECK_INT(counted_site(&f.s, 0).live_bytes, 50);
	CHECK_INT(f.s.header->counters_refused, 3);
	CHECK_INT(counted_program(&f.s).live_bytes, 250);
	end();
}

#define BLOCKS 20000
#define SITES  50u

struct truth {
	uint64_t allocs, frees, live;
	uint64_t size_allocs[HT_SIZE_BUCKETS], life[HT_LIFE_BUCKETS];
};

static void check_sums(const struct truth *truth)
{
	struct counted all = counted_program(&f.s), sum = { 0 };

	for (uint32_t i = 0; i < SITES; i++) {
		struct counted site = counted_site(&f.s, i);

		sum.allocs += site.allocs;
		sum.frees += site.frees;
		sum.live_bytes += site.live_bytes;
		for (uint32_t b = 0; b < HT_SIZE_BUCKETS; b++) {
			sum.size_allocs[b] += site.size_allocs[b];
			sum.size_frees[b] += site.size_frees[b];
		}
		for (uint32_t b = 0; b < HT_LIFE_BUCKETS; b++)
			sum.life[b] += site.life[b];
	}
	CHECK_INT(sum.allocs, truth->allocs);
	CHECK_INT(all.allocs, truth->allocs);
	CHECK_INT(sum.frees, truth->frees);
	CHECK_INT(all.frees, truth->frees);
	CHECK_INT(sum.live_bytes, truth->live);
	CHECK_INT(all.live_bytes, truth->live);
	CHECK(!memcmp(all.size_allocs, truth->size_allocs, sizeof(all.size_allocs)));
	CHECK(!memcmp(sum.size_allocs, truth->size_allocs, sizeof(all.size_allocs)));
	CHECK(!memcmp(sum.size_frees, all.size_frees, sizeof(all.size_frees)));
	CHECK(!memcmp(all.life, truth->life, sizeof(all.life)));
	CHECK(!memcmp(sum.life, truth->life, sizeof(all.life)));
}

/* Random blocks over sites and slots: all the sums that design law 3 speaks of. */
TEST(sums)
{
	static struct {
		uint64_t size;
		uint32_t site;
	} block[BLOCKS];
	struct truth truth = { 0 };
	uint64_t random = 99;

	begin();
	for (int i = 0; i < 200000; i++) {
		uint64_t r = fixture_random(&random), at = r % BLOCKS, life = r >> 50;
		uint32_t slot = (uint32_t)(r >> 40) % (SLOTS + 1);

		if (block[at].size) {
			give(slot, block[at].site, block[at].size, life);
			truth.live -= block[at].size;
			truth.frees++;
			truth.life[counter_life_bucket(life)]++;
			block[at].size = 0;
			continue;
		}
		block[at].size = (r >> 20) % 100000 + 1;
		block[at].site = (uint32_t)(r >> 33) % SITES;
		take(slot, block[at].site, block[at].size);
		truth.live += block[at].size;
		truth.allocs++;
		truth.size_allocs[counter_size_bucket(block[at].size)]++;
	}
	check_sums(&truth);
	end();
}

/* A handler that frees in the middle of a hook, in slot 0, alone in its process: neither may lose a
 * count. Now and then the program uses slot 0 as well. */
#define HANDLED 1000

static volatile sig_atomic_t handled;

static void count_in_handler(int number)
{
	give(0, 1, 3, 0);
	handled = handled + 1;
}

TEST(counts_in_a_handler)
{
	struct itimerval often = { { 0, 30 }, { 0, 30 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = count_in_handler };
	uint64_t allocs = 0;
	struct counted site;

	begin();
	f.s.single_threaded = "\1";
	handled = 0;
	take(0, 1, 5); /* the shared counter is there */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (allocs = 1; handled < HANDLED; allocs++)
		take(allocs % 2, 1, 5);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	site = counted_site(&f.s, 1);
	CHECK_INT(site.allocs, allocs);
	CHECK_INT(site.frees, handled);
	CHECK_INT(site.live_bytes, 5 * allocs - 3 * (uint64_t)handled);
	CHECK_INT(counter_live(&f.s, 1), 5 * allocs - 3 * (uint64_t)handled);
	end();
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
	ht_add_own_64(&counter, 1ull << 41);
	ht_add_own_64(&counter, (uint64_t)-38);
	CHECK_INT(counter, (1ll << 40) + (1ll << 41));
}

int main(void)
{
	RUN(size_buckets);
	RUN(life_buckets);
	RUN(one_block);
	RUN(blocks_tell_who_allocated);
	RUN(empty_blocks_count);
	RUN(freed_before_counted);
	RUN(a_new_counter_is_settled);
	RUN(a_hot_site_is_private);
	RUN(sites_that_meet);
	RUN(slot_passes_on);
	RUN(catch_all_and_shared_slot);
	RUN(private_counters_used_up);
	RUN(counters_used_up);
	RUN(sums);
	RUN(counts_in_a_handler);
	RUN(counts_alone);
	return check_end();
}
