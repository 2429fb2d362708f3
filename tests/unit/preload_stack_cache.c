/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks against an unwinder that is asked each time: whatever was remembered, forgotten
 * or written over, the answer is the site that the unwinder gives, or none. The file itself is
 * compiled in, with a module finder of ours and stacks that are arrays.
 */
#define private_map told_private_map
#include "preload/stack_cache.c"
#undef private_map
void *private_map(size_t bytes);

#include <stdlib.h>
#include "tests/check.h"

#define STACK_WORDS 400u
#define LOADED	    0x700000000000ull /* code from here on may be unloaded */
#define SITES_LOG2  20u
#define PCS_MAX	    90u

static uint32_t module_now = 7;
static bool outside; /* no object is there */
static unsigned finds; /* of modules, by the memory itself */

struct modules_loader modules_loader = { .generation = MODULES_NEVER + 1 };

void modules_find(uint64_t pc, struct module_range *out)
{
	uint32_t module = outside ? HT_NODE_UNPINNED : module_now | HT_NODE_UNPINNED;

	finds++;
	*out = (struct module_range){ pc, pc + 1, pc < LOADED ? 1u : module };
}

/* Room for a stack, with the hook's frame at its start. */
static uint64_t stack[STACK_WORDS] __attribute__((aligned(16)));
static uint64_t pcs[PCS_MAX];
static uint32_t modules[PCS_MAX];
static struct unwind_word noted[PCS_MAX];

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25ull;
	return h ^ h >> 29;
}

static uint64_t seed = 1;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* The same stack has the same number here, and two stacks have two. */
static uint32_t site_of(uint64_t hash)
{
	static uint64_t seen[1u << SITES_LOG2];
	static uint32_t number[1u << SITES_LOG2], count;
	uint32_t i = (uint32_t)(hash >> (64 - SITES_LOG2));

	while (seen[i] != 0 && seen[i] != hash)
		i = (i + 1) % (1u << SITES_LOG2);
	if (seen[i] == 0) {
		seen[i] = hash;
		number[i] = ++count;
	}
	return number[i];
}

/*
 * An unwinder: where the next return address is depends on those before, and so does the end. Like
 * the real one it is a function of the words it reads.
 */
static uint32_t take(struct unwind *u, uint32_t function)
{
	uint64_t hash = mix(function, (uint64_t)(uintptr_t)stack), at = 1;

	*u = (struct unwind){ .frame = (uintptr_t)stack,
		.pcs = pcs,
		.modules = modules,
		.words_end = noted + PCS_MAX,
		.generation = modules_generation(),
		.repeatable = true };
	do {
		uint64_t pc = stack[at];
		struct module_range range;

		modules_find(pc, &range);
		pcs[u->count] = pc;
		modules[u->count++] = range.module;
		noted[PCS_MAX - 1 - u->guard_count++] =
			(struct unwind_word){ (uint64_t)(uintptr_t)&stack[at], pc };
		hash = mix(hash, pc + ((uint64_t)range.module << 48));
		at += 1 + hash % 4;
	} while (hash % 32 != 0 && u->count < PCS_MAX);
	u->truncated = u->count == PCS_MAX;
	return site_of(hash);
}

/* Every word one of `ways`, most often the first: stacks that begin alike, and part anywhere. */
static void stack_make(uint64_t base, unsigned ways)
{
	for (unsigned i = 1; i < STACK_WORDS; i++)
		stack[i] = base + i * 16 + (random_below(4) ? 0 : random_below(ways)) * 4096;
}

static struct stack_cache_leaf *find(struct stack_cache *g, uint32_t function)
{
	uintptr_t frame = (uintptr_t)stack;

	return stack_cache_find(g, stack_cache_root(g, frame), frame, function);
}

struct tally {
	unsigned found, taken, asked, wrong, counters_kept;
};

/* One allocation. */
static void allocate(struct stack_cache *g, uint32_t function, struct tally *tally)
{
	unsigned before = finds;
	struct stack_cache_leaf *leaf = find(g, function);
	unsigned asked = finds - before;
	struct unwind u;
	uint32_t site = take(&u, function);

	if (leaf)
		tally->found++;
	else
		leaf = stack_cache_keep(g, &u, function, site);
	tally->wrong += leaf->site != site || (leaf->counter != 0 && leaf->counter != 3 * site);
	tally->counters_kept += leaf->counter == 3 * site;
	tally->taken++;
	tally->asked += asked;
	leaf->counter = 3 * site;
}

static struct stack_cache guards_made(void)
{
	struct stack_cache g = { 0 };

	CHECK(stack_cache_start(&g));
	module_now = 7;
	modules_loader.generation = MODULES_NEVER + 1;
	outside = false;
	return g;
}

TEST(a_stack_again)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	stack_make(0x4000, 1);
	for (int i = 0; i < 10; i++)
		allocate(&g, HT_FN_MALLOC, &t);
	CHECK_INT(t.wrong, 0);
	CHECK_INT(t.found, 9);
	CHECK_INT(t.counters_kept, 9);
	allocate(&g, HT_FN_CALLOC, &t);
	CHECK_INT(t.found, 9); /* another function is another stack */
	CHECK_INT(t.wrong, 0);
	stack_cache_end(&g);
}

/* Each word that another one took the place of, also one that only looks alike in 48 bits. */
TEST(every_word_counts)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };
	struct unwind u;

	stack_make(0x4000, 1);
	allocate(&g, HT_FN_MALLOC, &t);
	take(&u, HT_FN_MALLOC);
	for (unsigned i = 0; i < u.guard_count; i++) {
		uint64_t *word = &stack[unwind_guard(&u, i) >> STACK_CACHE_VALUE_BITS], was = *word;

		for (unsigned bit = 0; bit < 64; bit++) {
			*word = was ^ 1ull << bit;
			CHECK(find(&g, HT_FN_MALLOC) == NULL);
		}
		*word = was;
	}
	CHECK(find(&g, HT_FN_MALLOC) != NULL);
	stack_cache_end(&g);
}

static struct tally many(uint64_t base, unsigned ways, unsigned rounds)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	for (unsigned i = 0; i < rounds; i++) {
		stack_make(base, ways);
		allocate(&g, HT_FN_MALLOC + (uint32_t)random_below(3), &t);
	}
	CHECK(g.words <= WORDS_MAX && g.used <= g.words);
	stack_cache_end(&g);
	CHECK_INT(t.wrong, 0);
	return t;
}

/* A few stacks: once all were there, all are found. */
TEST(few_stacks)
{
	struct tally t = many(0x4000, 1, 5000);

	CHECK_INT(t.taken - t.found, 3);
}

/* Thousands that share their beginnings: tables and arena grow. */
TEST(many_stacks)
{
	struct tally t = many(0x4000, 2, 300000);

	CHECK(t.found > t.taken / 4);
}

/* More than there is memory for: all is forgotten again and again. */
TEST(more_stacks_than_memory)
{
	many(0x4000, 50, 300000);
}

/* What the tables hold survives growth: nothing is taken again because of it. */
static bool handlers_come;

/* The memory may be asked for at a time that a handler must not end. */
void *told_private_map(size_t bytes)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	handlers_come = !sigismember(&set, SIGUSR1) || !sigismember(&set, SIGALRM);
	return private_map(bytes);
}

TEST(growth_is_not_left)
{
	struct stack_cache g = guards_made();
	uint64_t words = g.words;
	struct tally t = { 0 };
	sigset_t set;

	handlers_come = true;
	while (g.words == words) {
		stack_make(0x4000, 50);
		allocate(&g, HT_FN_MALLOC, &t);
	}
	CHECK(!handlers_come);
	sigprocmask(SIG_SETMASK, NULL, &set);
	CHECK(!sigismember(&set, SIGUSR1) && !sigismember(&set, SIGALRM));
	stack_cache_end(&g);
}

TEST(growth_forgets_nothing)
{
	struct stack_cache g = guards_made();
	uint64_t words = g.words;
	struct tally t = { 0 };
	uint64_t began = seed;
	unsigned stacks = 0, again = 0;

	while (g.words == words) {
		stack_make(0x4000, 50);
		allocate(&g, HT_FN_MALLOC, &t);
		stacks++;
	}
	seed = began;
	t = (struct tally){ 0 };
	for (; again < stacks; again++) {
		stack_make(0x4000, 50);
		allocate(&g, HT_FN_MALLOC, &t);
	}
	CHECK_INT(t.wrong, 0);
	CHECK(t.found > stacks - stacks / 20); /* full buckets lose some */
	stack_cache_end(&g);
}

/* The loader unmapped what was there, and mapped something else. */
static void code_replace(void)
{
	module_now++;
	if (modules_loader.generation > MODULES_NEVER)
		modules_loader.generation++;
}

/* Whether the frames of the new code are as large as those before or not. */
TEST(code_replaced)
{
	for (uint64_t base = LOADED; base < LOADED + 100 * 65536; base += 65536) {
		struct stack_cache g = guards_made();
		struct tally t = { 0 };

		stack_make(base, 1);
		for (int i = 0; i < 40; i++) {
			if (i % 10 == 0)
				code_replace();
			allocate(&g, HT_FN_MALLOC, &t);
		}
		CHECK_INT(t.wrong, 0);
		CHECK_INT(t.found, 36);
		CHECK_INT(t.asked, 3); /* each time of the stack before */
		stack_cache_end(&g);
	}
}

/* The same among many stacks in memory, with and without numbers for generations. */
TEST(code_replaced_under_many_stacks)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	for (unsigned i = 0; i < 200000; i++) {
		if (i == 100000)
			modules_loader.generation = MODULES_NEVER;
		if (random_below(5000) == 0)
			code_replace();
		stack_make(LOADED, 2);
		allocate(&g, HT_FN_MALLOC, &t);
	}
	CHECK_INT(t.wrong, 0);
	CHECK(t.found > t.taken / 20);
	stack_cache_end(&g);
}

/* Something was unloaded elsewhere: asked once, and good again. */
TEST(code_stays)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	stack_make(LOADED, 1);
	for (int i = 0; i < 10; i++)
		allocate(&g, HT_FN_MALLOC, &t);
	CHECK_INT(t.asked, 0);
	modules_loader.generation++;
	for (int i = 0; i < 10; i++)
		allocate(&g, HT_FN_MALLOC, &t);
	CHECK_INT(t.asked, 1);
	CHECK_INT(t.found, 19);
	CHECK_INT(t.wrong, 0);
	stack_cache_end(&g);
}

/* Memory outside any object may change unnoticed, so it is checked each time. */
TEST(code_outside)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	outside = true;
	for (uint64_t base = LOADED; t.found == 0; base += 65536) {
		stack_make(base, 1); /* until it is short enough to be remembered */
		for (int i = 0; i < 10; i++)
			allocate(&g, HT_FN_MALLOC, &t);
	}
	CHECK_INT(t.found, 9);
	CHECK(t.asked >= 9);
	outside = false; /* an object is loaded there */
	allocate(&g, HT_FN_MALLOC, &t);
	CHECK_INT(t.found, 9);
	CHECK_INT(t.wrong, 0);
	stack_cache_end(&g);
}

/* What cannot be remembered has a leaf all the same. */
TEST(not_remembered)
{
	struct stack_cache g = guards_made();
	struct stack_cache_leaf *leaf;
	struct unwind u;

	stack_make(0x4000, 1);
	take(&u, HT_FN_MALLOC);
	u.repeatable = false;
	leaf = stack_cache_keep(&g, &u, HT_FN_MALLOC, 5);
	CHECK(leaf && leaf->site == 5 && leaf->counter == 0);
	u.repeatable = true;
	leaf = stack_cache_keep(&g, &u, HT_FN_MALLOC, 0);
	CHECK(leaf && leaf->site == 0);
	CHECK(find(&g, HT_FN_MALLOC) == NULL);
	stack_cache_end(&g);
}

int main(void)
{
	RUN(a_stack_again);
	RUN(every_word_counts);
	RUN(few_stacks);
	RUN(many_stacks);
	RUN(more_stacks_than_memory);
	RUN(growth_is_not_left);
	RUN(growth_forgets_nothing);
	RUN(code_replaced);
	RUN(code_replaced_under_many_stacks);
	RUN(code_stays);
	RUN(code_outside);
	RUN(not_remembered);
	return check_end();
}
