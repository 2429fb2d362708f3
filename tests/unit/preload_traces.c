/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of stacks seen lately: whatever is in it, a stack's site is the one that the tree
 * gives. The file itself is compiled in, with a module finder of ours.
 */
#include "preload/traces.c"

#include <pthread.h>
#include <stdlib.h>
#include "shm/stack.h"
#include "tests/unit/shm_fixture.h"

#define MODULE_A 5u
#define MODULE_B 6u
#define LOADED	 0x700000000000ull /* code from here on may be unloaded */
#define DEPTH	 200u

struct segment state_segment;

static struct fixture fixture;
static uint32_t loaded_now = MODULE_B;

static void begin(void)
{
	fixture_open(&fixture, SEGMENT_SMALL);
	state_segment = fixture.s;
	memset(entries, 0, sizeof(entries));
	loaded_now = MODULE_B;
}

static void end(void)
{
	fixture_close(&fixture);
}

struct stack {
	uint64_t pcs[DEPTH];
	uint32_t modules[DEPTH];
	struct stack_trace t;
};

/* Stack `number` of a depth, from `base` on. */
static struct stack_trace *stack_make(
	struct stack *s, uint64_t base, uint32_t depth, uint64_t number)
{
	for (uint32_t i = 0; i < depth; i++) {
		s->pcs[i] = base + i * 16 + (i == depth - 1 ? number * 4096 : 0);
		s->modules[i] = base < LOADED ? MODULE_A : loaded_now | HT_NODE_UNPINNED;
	}
	s->t = (struct stack_trace){
		.function = HT_FN_MALLOC, .count = depth, .pcs = s->pcs, .modules = s->modules
	};
	return &s->t;
}

static uint32_t site_of_stack(uint64_t base, uint32_t depth, uint64_t number)
{
	struct stack s;

	return traces_site(stack_make(&s, base, depth, number));
}

/* What the tree says, asked directly. */
static uint32_t site_by_tree(uint64_t base, uint32_t depth, uint64_t number)
{
	struct stack s;

	return stack_intern(&fixture.s, stack_make(&s, base, depth, number));
}

TEST(a_stack_again)
{
	uint32_t site;

	begin();
	site = site_of_stack(0x4000, 10, 1);
	CHECK(site != 0);
	CHECK_INT(site_by_tree(0x4000, 10, 1), site);
	stack_site(&fixture.s, site)->node = 0; /* nobody asks the tree again */
	stack_node(&fixture.s, 1)->pc = 0;
	for (int i = 0; i < 5; i++)
		CHECK_INT(site_of_stack(0x4000, 10, 1), site);
	CHECK_INT(fixture.s.header->sites, 2);
	end();
}

/* Each difference that makes another stack. */
TEST(stacks_are_told_apart)
{
	struct stack s;
	uint32_t site, other[6];

	begin();
	site = site_of_stack(0x4000, 10, 0);
	other[0] = site_of_stack(0x4000, 9, 0);
	other[1] = site_of_stack(0x4000, 11, 0);
	other[2] = site_of_stack(0x4000, 10, 1);
	other[3] = site_of_stack(0x4010, 10, 0);
	stack_make(&s, 0x4000, 10, 0)->function = HT_FN_CALLOC;
	other[4] = traces_site(&s.t);
	stack_make(&s, 0x4000, 10, 0)->truncated = true;
	other[5] = traces_site(&s.t);
	for (int i = 0; i < 6; i++) {
		CHECK(other[i] != 0 && other[i] != site);
		for (int k = 0; k < i; k++)
			CHECK(other[i] != other[k]);
	}
	CHECK_INT(site_of_stack(0x4000, 10, 0), site);
	end();
}

TEST(depths)
{
	static const uint32_t depths[] = { 0, 1, 2, 3, 4, 5, FRAMES_KEPT - 1, FRAMES_KEPT,
		FRAMES_KEPT + 1, DEPTH };

	begin();
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		uint32_t site = site_of_stack(0x4000, depths[i], 0);

		CHECK_INT(site, site_by_tree(0x4000, depths[i], 0));
		CHECK_INT(site_of_stack(0x4000, depths[i], 0), site);
	}
	end();
}

/* Frames beyond those that an entry keeps are proved too. */
TEST(deep_stacks_that_differ_outside)
{
	uint32_t a, b;

	begin();
	a = site_of_stack(0x4000, DEPTH, 1);
	b = site_of_stack(0x4000, DEPTH, 2);
	CHECK(a != b);
	/* Made to look alike to the table: the tree must still tell them. */
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].site == a)
			entries[i].site = b;
	CHECK_INT(site_of_stack(0x4000, DEPTH, 1), a);
	end();
}

/* More stacks than entries, twice over: evictions and collisions change no answer. */
TEST(more_stacks_than_entries)
{
	const uint32_t count = 3u << ENTRIES_LOG2;
	uint32_t *sites = calloc(count, sizeof(*sites)), wrong = 0;

	begin();
	for (uint32_t i = 0; i < count; i++)
		sites[i] = site_of_stack(0x4000, 4, i);
	for (uint32_t i = count; i-- > 0;)
		wrong += sites[i] == 0 || site_of_stack(0x4000, 4, i) != sites[i] ||
			 site_by_tree(0x4000, 4, i) != sites[i];
	CHECK_INT(wrong, 0);
	CHECK_INT(fixture.s.header->sites, count + 1); /* each one once */
	free(sites);
	end();
}

/* Two stacks in one entry, by force: the hash leads there, the addresses decide. */
TEST(same_hash)
{
	struct stack a, b;
	uint64_t hash;
	uint32_t site;

	begin();
	site = site_of_stack(0x4000, 6, 0);
	hash = hash_of(stack_make(&b, 0x4000, 6, 1));
	stack_make(&a, 0x4000, 6, 0);
	entry_write(&entries[hash >> (64 - ENTRIES_LOG2)], &a.t, hash, site);
	CHECK(traces_site(&b.t) != site);
	CHECK_INT(traces_site(&a.t), site);
	end();
}

/* A library goes and another comes to lie there: the same addresses are another stack. */
TEST(code_that_was_replaced)
{
	uint32_t before, after;

	begin();
	before = site_of_stack(LOADED, 6, 0);
	CHECK_INT(site_of_stack(LOADED, 6, 0), before);
	loaded_now = MODULE_B + 1;
	after = site_of_stack(LOADED, 6, 0);
	CHECK(after != before && after != 0);
	CHECK_INT(stack_node(&fixture.s,
			  stack_node(&fixture.s, stack_site(&fixture.s, after)->node)->parent)
			  ->module,
		(MODULE_B + 1) | HT_NODE_UNPINNED);
	loaded_now = MODULE_B;
	CHECK_INT(site_of_stack(LOADED, 6, 0), before);
	end();
}

/* A writer that was killed or interrupted inside: its entry is a miss, and no one waits for it. */
TEST(entry_being_written)
{
	struct stack s;
	struct entry *e;
	uint32_t site;

	begin();
	site = site_of_stack(0x4000, 5, 0);
	e = &entries[hash_of(stack_make(&s, 0x4000, 5, 0)) >> (64 - ENTRIES_LOG2)];
	CHECK_INT(e->site, site);
	e->sequence |= 1;
	e->site = site + 1000;
	CHECK_INT(site_of_stack(0x4000, 5, 0), site);
	CHECK_INT(e->site, site + 1000); /* and a second writer leaves it be */
	e->sequence++;
	e->site = site;
	stack_node(&fixture.s, 1)->pc = 0; /* the tree would make another site now */
	CHECK_INT(site_of_stack(0x4000, 5, 0), site);
	end();
}

/* Stacks for which the tree had no room are asked again: no wrong site is remembered. */
TEST(no_room)
{
	uint32_t kept;

	begin();
	kept = fixture.s.header->nodes;
	fixture.s.header->nodes = UINT32_MAX;
	CHECK_INT(site_of_stack(0x4000, 5, 0), 0);
	CHECK_INT(fixture.s.header->nodes_refused, 1);
	CHECK_INT(site_of_stack(0x4000, 5, 0), 0);
	CHECK_INT(fixture.s.header->nodes_refused, 2);
	fixture.s.header->nodes = kept;
	CHECK(site_of_stack(0x4000, 5, 0) != 0);
	end();
}

#define RACERS 4
#define ROUNDS 20000u
#define SHARED 64u

static uint32_t expected[SHARED];
static uint32_t race_wrong;

/* All on entries that they take from each other all the time. */
static void *race(void *seed_at)
{
	uint64_t seed = (uint64_t)(uintptr_t)seed_at;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t number = fixture_random(&seed) % SHARED;
		struct stack s;
		struct stack_trace *t = stack_make(&s, 0x4000, 40, number);
		uint64_t hash = hash_of(t);

		wrong += traces_site(t) != expected[number];
		/* Someone else's stack comes to lie in our entry. */
		stack_make(&s, 0x4000, 40, (number + 1) % SHARED);
		entry_write(&entries[hash >> (64 - ENTRIES_LOG2)], t, hash_of(t),
			expected[(number + 1) % SHARED]);
	}
	__atomic_fetch_add(&race_wrong, wrong, __ATOMIC_RELAXED);
	return NULL;
}

TEST(threads)
{
	pthread_t threads[RACERS];

	begin();
	for (uint32_t i = 0; i < SHARED; i++)
		expected[i] = site_by_tree(0x4000, 40, i);
	race_wrong = 0;
	for (uintptr_t i = 0; i < RACERS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, race, (void *)(i + 1)), 0);
	for (int i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(race_wrong, 0);
	end();
}

int main(void)
{
	RUN(a_stack_again);
	RUN(stacks_are_told_apart);
	RUN(depths);
	RUN(deep_stacks_that_differ_outside);
	RUN(more_stacks_than_entries);
	RUN(same_hash);
	RUN(code_that_was_replaced);
	RUN(entry_being_written);
	RUN(no_room);
	RUN(threads);
	return check_end();
}
