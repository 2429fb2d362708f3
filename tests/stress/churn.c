/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table after a long life: eight threads put blocks in and take them out at random, and a
 * plain array of each knows what must be there. Every now and then all stop; then the table and the
 * arrays are compared block by block, and its searches must be short: a table that rots still gives
 * right answers, later and later. Usage: churn [OPERATIONS [TEST...]]
 * (of each test; make soak: 10^9 and more)
 */
#include "tests/stress/stress.h"

#include "shm/live_direct.h"
#include "shm/live_overflow.h"
#include "shm/live.h"

#define SLOTS_MOST 160000u /* of a thread's array */
#define PITCH	   48u
#define SITES	   16u
/* Blocks of a moving heap: far apart, so that all pieces are taken soon. 46 bits: user space. */
#define FAR_PITCH (UINT64_C(1) << 22)
#define FAR_BITS  (UINT64_C(1) << 46)

struct life {
	enum segment_size size;
	uint32_t slots; /* of a thread: twice the blocks that it has most of the time, if all find
			   room */
	double passed_most; /* buckets that a search may pass on average, ever */
	bool moves; /* no address comes again soon */
	bool refuses; /* more are wanted than there is room for */
};

/* What must be in the table. */
struct slot {
	uint64_t addr;
	uint64_t born; /* its tick + 1; 0: it is not there */
};

struct mine {
	struct slot slots[SLOTS_MOST];
	uint64_t random, next, refused;
};

static struct mine threads[STRESS_THREADS];
static const struct life *life;
static uint64_t operations = 400000, looks = 2;

/* What a block looks like follows from its address and its tick, so that any mixture shows. */
static struct live_block block(const struct slot *at)
{
	uint64_t tick = at->born - 1, mix = at->addr / 16 * 7 + tick * 37;

	return (struct live_block){
		.size = mix % 41, .tick = tick, .counter = (uint32_t)(mix % SITES)
	};
}

static bool same(const struct live_block *a, const struct live_block *b)
{
	return a->size == b->size && a->tick == b->tick && a->counter == b->counter;
}

static uint64_t address(const struct stress_thread *t, uint64_t i)
{
	uint64_t n = i * STRESS_THREADS + t->number + 1;

	return life->moves ? (1ull << 32) + n * FAR_PITCH % FAR_BITS
			   : 0x550000000000ull + n * PITCH;
}

static void put(struct stress_thread *t, struct mine *m, struct slot *at, uint64_t tick)
{
	struct live_block b, old[LIVE_MISSED_MAX];
	unsigned result;

	if (life->moves)
		at->addr = address(t, m->next++);
	at->born = tick + 1;
	b = block(at);
	result = live_insert(t->s, at->addr, &b, old);
	if (result == LIVE_REFUSED && life->refuses) {
		m->refused++;
		at->born = 0;
	} else {
		t->bad += result != 0;
	}
}

static void take(struct stress_thread *t, struct slot *at)
{
	struct live_block b = { 0 }, want = block(at);

	t->bad += !live_remove(t->s, at->addr, &b) || !same(&b, &want);
	at->born = 0;
}

static void begin(struct stress_thread *t)
{
	struct mine *m = &threads[t->number];

	m->random = t->random;
	m->refused = 0;
	m->next = life->slots;
	for (uint32_t i = 0; i < life->slots; i++)
		m->slots[i] = (struct slot){ .addr = address(t, i) };
}

static void live_on(struct stress_thread *t)
{
	struct mine *m = &threads[t->number];

	for (uint64_t i = operations / looks / STRESS_THREADS; i-- > 0;) {
		uint64_t r = fixture_random(&m->random);
		struct slot *at = &m->slots[(r >> 32) % life->slots];

		if (at->born)
			take(t, at);
		else
			put(t, m, at, r & 0xffffff);
	}
}

/* Every block of the arrays is in the table as it should be; what is not there is not found. */
static void compare(struct stress_thread *t)
{
	const struct mine *m = &threads[t->number];
	struct live_block b, want;

	for (uint32_t i = 0; i < life->slots; i++) {
		const struct slot *at = &m->slots[i];

		want = block(at);
		t->bad += live_find(t->s, at->addr, &b) ? !at->born || !same(&b, &want)
							: at->born != 0;
	}
}

static void finish(struct stress_thread *t)
{
	for (uint32_t i = 0; i < life->slots; i++)
		if (threads[t->number].slots[i].born)
			take(t, &threads[t->number].slots[i]);
}

static uint64_t blocks_wanted(void)
{
	uint64_t count = 0;

	for (uint32_t t = 0; t < STRESS_THREADS; t++)
		for (uint32_t i = 0; i < life->slots; i++)
			count += threads[t].slots[i].born != 0;
	return count;
}

static uint64_t refused(void)
{
	uint64_t count = 0;

	for (uint32_t t = 0; t < STRESS_THREADS; t++)
		count += threads[t].refused;
	return count;
}

/* All stand still. */
static void look(const struct segment *s, uint64_t number)
{
	uint64_t direct = live_direct_count(s), done = operations / looks * number;
	struct live_overflow_probe p;
	double mean;

	CHECK_INT(stress_run(s, compare), 0);
	live_overflow_probe_length(s, &p);
	CHECK_INT(p.blocks + direct, blocks_wanted());
	CHECK_INT(p.overflow, p.buckets_passed);
	CHECK(p.longest < HT_PROBE_BUCKETS);
	mean = p.blocks ? (double)p.buckets_passed / (double)p.blocks : 0;
	printf("# %" PRIu64 " operations: %" PRIu64 " blocks mapped, %" PRIu64
	       " hashed in %u levels; "
	       "passed %.4f buckets, at most %" PRIu64 "; %" PRIu64 " refused\n",
		done, direct, p.blocks, s->header->live_levels, mean, p.longest, refused());
	CHECK(mean <= life->passed_most);
}

static void run(const struct life *l)
{
	struct fixture f;

	life = l;
	fixture_open(&f, l->size);
	segment_extents(&f.s, true);
	CHECK_INT(stress_run(&f.s, begin), 0);
	for (uint64_t i = 1; i <= looks; i++) {
		CHECK_INT(stress_run(&f.s, live_on), 0);
		look(&f.s, i);
	}
	CHECK(l->refuses == (refused() > 0));
	CHECK_INT(stress_run(&f.s, finish), 0);
	CHECK_INT(blocks_wanted(), 0);
	look(&f.s, looks);
	fixture_close(&f);
}

/* Of 286,720 that there is room for, these are 140,000, 220,000, and more than all. */
TEST(half_full)
{
	run(&(struct life){ .size = SEGMENT_SMALL, .slots = 35000, .passed_most = 0.2 });
}

TEST(nearly_full)
{
	run(&(struct life){ .size = SEGMENT_SMALL, .slots = 55000, .passed_most = 1.5 });
}

/* Where each free slot is taken at once, it may be any that a search reaches: the mean of 0 to 7.
 */
TEST(twice_as_many_as_fit)
{
	run(&(struct life){
		.size = SEGMENT_SMALL, .slots = 143360, .passed_most = 3.6, .refuses = true });
}

TEST(mapped_directly)
{
	run(&(struct life){ .size = SEGMENT_FULL, .slots = 100000 });
}

/* All pieces are taken soon, and kept, and what comes after has the overflow. */
TEST(heap_that_moves)
{
	run(&(struct life){
		.size = SEGMENT_FULL, .slots = 50000, .passed_most = 0.5, .moves = true });
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*test)(void);
	} tests[] = { { "half_full", test_half_full }, { "nearly_full", test_nearly_full },
		{ "twice_as_many_as_fit", test_twice_as_many_as_fit },
		{ "mapped_directly", test_mapped_directly },
		{ "heap_that_moves", test_heap_that_moves } };

	if (argc > 1) {
		operations = strtoull(argv[1], NULL, 10);
		looks = 16;
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		for (int a = argc > 2 ? 2 : 0; a < (argc > 2 ? argc : 1); a++)
			if (a == 0 || strcmp(argv[a], tests[i].name) == 0)
				check_run(tests[i].name, tests[i].test);
	return check_end();
}
