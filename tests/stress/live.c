/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table under eight threads that allocate, free, and hand blocks to each other, with
 * addresses reused at once as an allocator does; others walk it meanwhile as a viewer would. At the
 * end the table, the site counters and what the threads hold agree to the byte. Each test is done
 * with the directly mapped part and with the overflow alone.
 */
#include "tests/stress/stress.h"

#include "shm/live_direct.h"
#include "shm/live_overflow.h"
#include "shm/live.h"
#include "tests/unit/counter_fixture.h"

#define ADDRESSES 6000u /* of each thread at first */
#define PITCH	  48u /* blocks of two threads in one line, and their places in both tables */
#define BASE	  0x550000000000ull
#define LONG_EACH 8u /* one address in so many is a long block's: those have two entries */
#define LONG_BASE 0x560000000000ull
#define HANDED	  256u
#define SITES	  16u

static struct counter_owner owners[STRESS_THREADS + 1]; /* of the thread with the number before */
static uint64_t handed[HANDED]; /* blocks left for whoever comes by */

/* The allocator: free addresses. They go to the thread that freed them. */
struct pool {
	uint64_t address[ADDRESSES * STRESS_THREADS];
	uint32_t count;
};
static struct pool pools[STRESS_THREADS];

/* What a block looks like follows from its address and its tick, so that any mixture shows. */
static struct live_block block(uint64_t addr, uint64_t tick)
{
	uint64_t mix = addr / 16 * 7 + tick * 37;

	return (struct live_block){ .size = addr >= LONG_BASE ? 500 + mix % 1400 : mix % 41,
		.tick = tick,
		.counter = (uint32_t)(addr / 16 % SITES) };
}

static bool is_block(const struct live_block *b, uint64_t addr)
{
	struct live_block want = block(addr, b->tick);

	return b->size == want.size && b->counter == want.counter;
}

static void allocate(struct stress_thread *t, uint64_t *into)
{
	struct pool *pool = &pools[t->number];
	struct live_block b, old[LIVE_MISSED_MAX];

	if (pool->count == 0)
		return;
	*into = pool->address[--pool->count];
	b = block(*into, t->random >> 50);
	t->bad += live_insert(t->s, *into, &b, old) != 0;
	counter_alloc(t->s, &owners[t->number + 1], b.counter, b.size);
}

static void release(struct stress_thread *t, uint64_t addr)
{
	struct pool *pool = &pools[t->number];
	struct live_block b = { 0 };
	struct counter_freed end = { 0 };

	t->bad += !live_remove(t->s, addr, &b) || !is_block(&b, addr);
	end.size = b.size;
	counter_free(t->s, &owners[t->number + 1], b.counter, &end);
	pool->address[pool->count++] = addr;
}

#define HELD 2000u

static void work(struct stress_thread *t)
{
	static uint64_t all_held[STRESS_THREADS][HELD];
	uint64_t *held = all_held[t->number];

	for (uint32_t i = 0; i < STRESS_ROUNDS(1000000); i++) {
		uint64_t r = fixture_random(&t->random);
		uint64_t *mine = &held[r % HELD];

		if (!*mine)
			allocate(t, mine);
		else if (r >> 40 & 1)
			*mine = __atomic_exchange_n(
				&handed[(r >> 48) % HANDED], *mine, __ATOMIC_ACQ_REL);
		else {
			release(t, *mine);
			*mine = 0;
		}
	}
	for (uint32_t i = 0; i < HELD; i++) {
		if (held[i])
			release(t, held[i]);
		held[i] = 0;
	}
}

static uint64_t address(uint64_t i)
{
	return (i / STRESS_THREADS % LONG_EACH == 0 ? LONG_BASE + i * 2048 : BASE + i * PITCH);
}

static void pools_fill(void)
{
	memset(handed, 0, sizeof(handed));
	for (uint32_t t = 0; t < STRESS_THREADS; t++) {
		pools[t].count = ADDRESSES;
		for (uint64_t i = 0; i < ADDRESSES; i++)
			pools[t].address[i] = address(i * STRESS_THREADS + t);
	}
}

static void check_totals(const struct segment *s)
{
	uint64_t bytes = 0, blocks = 0, bad = 0, live = 0;
	struct live_overflow_probe p;
	struct live_block b;

	for (uint32_t i = 0; i < HANDED; i++) {
		if (!handed[i])
			continue;
		bad += !live_find(s, handed[i], &b) || !is_block(&b, handed[i]);
		bytes += b.size;
		blocks++;
	}
	for (uint32_t i = 0; i < SITES; i++)
		live += counted_site(s, i).live_bytes;
	live_overflow_probe_length(s, &p);
	CHECK_INT(bad, 0);
	CHECK_INT(p.blocks + live_direct_count(s), blocks);
	CHECK_INT(p.blocks, s->header->live_pieces_max ? 0 : blocks);
	CHECK_INT(p.overflow, p.buckets_passed);
	CHECK_INT(live, bytes);
	CHECK_INT(counted_program(s).live_bytes, bytes);
}

static void run(enum segment_size size, void (*body)(struct stress_thread *))
{
	struct fixture f;

	fixture_open(&f, size);
	counted_owners(&f.s, owners, STRESS_THREADS);
	segment_extents(&f.s, true);
	pools_fill();
	CHECK_INT(stress_run(&f.s, body), 0);
	check_totals(&f.s);
	fixture_close(&f);
}

TEST(exact_after_all)
{
	run(SEGMENT_FULL, work);
}

TEST(exact_in_the_overflow)
{
	run(SEGMENT_SMALL, work);
}

static uint32_t done;

/* Copies a slot twice, as src/read does, and takes it when both copies are the same. */
static bool slot_copy(const struct ht_bucket *b, uint32_t i, uint64_t *key, struct live_block *out)
{
	const struct ht_live_payload *p = &b->payload[i];
	uint64_t copy[2][3];

	for (int pass = 0; pass < 2; pass++) {
		copy[pass][0] = ht_load_acquire_64(&b->key[i]);
		copy[pass][1] = ht_load_relaxed_64(&p->size_rate);
		copy[pass][2] = ht_load_relaxed_64(&p->counter_tick);
		ht_fence_acquire();
	}
	if (memcmp(copy[0], copy[1], sizeof(copy[0])) != 0)
		return false;
	*key = copy[0][0];
	live_overflow_unpack(&(struct ht_live_payload){ copy[0][1], copy[0][2] }, out);
	return true;
}

static bool is_there(const struct segment *s, const void *at)
{
	return commit_has(s, (uint64_t)((const char *)at - (const char *)s->header));
}

static void walk_level(struct stress_thread *t)
{
	const struct ht_bucket *b = segment_at(t->s, segment_level_offset(t->s->header, 0));
	struct live_block block;
	uint64_t key;

	for (uint32_t n = 0; n < 1u << t->s->header->live_log2; n++) {
		if (!is_there(t->s, &b[n]) || !is_there(t->s, (const char *)(&b[n] + 1) - 1))
			continue;
		for (uint32_t i = 0; i < HT_BUCKET_SLOTS; i++)
			if (slot_copy(&b[n], i, &key, &block) && key > HT_KEY_CLAIMED)
				t->bad += !is_block(&block, key);
	}
}

/* The same with an entry of a long block. */
static bool entry_copy(const uint64_t *entry, struct live_block *out)
{
	uint64_t copy[2][2];

	for (int pass = 0; pass < 2; pass++) {
		copy[pass][0] = ht_load_relaxed_64(entry);
		copy[pass][1] = ht_load_relaxed_64(entry + 1);
		ht_fence_acquire();
	}
	if (memcmp(copy[0], copy[1], sizeof(copy[0])) != 0 || (copy[0][0] & HT_ENTRY_BLOCK) == 0 ||
		(copy[0][1] & HT_ENTRY_KIND) != HT_ENTRY_EXTENSION)
		return false;
	*out = live_unpack(copy[0][0]);
	out->size = copy[0][1] >> HT_ENTRY_LONG_SHIFT;
	return true;
}

static void walk_pieces(struct stress_thread *t)
{
	struct live_block b;

	for (uint64_t i = 0; i < ADDRESSES * STRESS_THREADS; i++) {
		uint64_t addr = address(i), at = addr % HT_PIECE_BYTES;
		const struct segment_place *home = live_pieces_home(t->s, addr);

		struct ht_piece *p =
			live_pieces_is_home(home, addr) ? live_pieces_at_home(home) : NULL;

		if (addr >= LONG_BASE && p &&
			(ht_load_relaxed_8(&p->state[at / HT_PAGE_SPAN]) & HT_PAGE_FIRST) != 0 &&
			entry_copy(live_first(p, at), &b))
			t->bad += !is_block(&b, addr);
	}
}

static void work_or_walk(struct stress_thread *t)
{
	if (t->number < STRESS_THREADS - 2) {
		work(t);
		ht_add_relaxed_32(&done, 1);
		return;
	}
	while (ht_load_relaxed_32(&done) < STRESS_THREADS - 2)
		if (t->s->header->live_pieces_max)
			walk_pieces(t);
		else
			walk_level(t);
}

TEST(walkers_see_whole_blocks)
{
	done = 0;
	run(SEGMENT_FULL, work_or_walk);
}

TEST(walkers_of_the_overflow_see_whole_blocks)
{
	done = 0;
	run(SEGMENT_SMALL, work_or_walk);
}

/* Each thread's share: more than there is room for, or with the sanitizer, where a probe of a full
 * table takes its time, enough to grow. */
#define SHARE (STRESS_SLOW == 1 ? 60000u : 12000u)

static uint64_t filled[STRESS_THREADS]; /* blocks of each thread that found room */

static uint64_t share_base(const struct stress_thread *t)
{
	return 0x10000 + (uint64_t)t->number * 0x10000000;
}

/* All threads fill the table together; when all are done, they empty it together. */
static void fill(struct stress_thread *t)
{
	uint64_t base = share_base(t), n = 0;
	struct live_block b, old[LIVE_MISSED_MAX];

	for (; n < SHARE; n++) {
		b = block(base + n * 16, n % 100);
		if (live_insert(t->s, base + n * 16, &b, old) != 0)
			break;
	}
	filled[t->number] = n;
}

static void empty(struct stress_thread *t)
{
	uint64_t base = share_base(t);
	struct live_block b;

	for (uint64_t i = 0; i < filled[t->number]; i++)
		t->bad += !live_remove(t->s, base + i * 16, &b) || !is_block(&b, base + i * 16);
}

TEST(growth_and_full_table)
{
	struct fixture f;
	struct live_overflow_probe p;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(stress_run(&f.s, fill), 0);
	CHECK_INT(stress_run(&f.s, empty), 0);
	live_overflow_probe_length(&f.s, &p);
	CHECK_INT(p.blocks, 0);
	CHECK_INT(p.overflow, 0);
	CHECK_INT(f.s.header->live_levels, f.s.header->live_levels_max);
	fixture_close(&f);
}

int main(void)
{
	RUN(exact_after_all);
	RUN(exact_in_the_overflow);
	RUN(walkers_see_whole_blocks);
	RUN(walkers_of_the_overflow_see_whole_blocks);
	RUN(growth_and_full_table);
	return check_end();
}
