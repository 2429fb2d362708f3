/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks against an unwinder that is asked each time: whatever was remembered, forgotten
 * or written over, the answer is the site that the unwinder gives, or none. The file itself is
 * compiled in, with a module finder of ours and stacks that are arrays. Long because the same
 * unwinder judges the memory's growth.
 */
#define private_resize	 told_private_resize
#define private_populate told_private_populate
#include "preload/stack_cache.c"
#include "preload/stack_memory.c"
#undef private_resize
#undef private_populate
void *private_resize(void *p, size_t bytes, size_t larger);
void private_populate(void *from, size_t bytes);

#include <stdlib.h>
#include "tests/check.h"

#define STACK_WORDS 400u
#define LOADED	    0x700000000000ull /* code from here on may be unloaded */
#define SITES_LOG2  20u /* more than any test has */
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

static uint64_t seen[1u << SITES_LOG2];
static uint32_t sites_made;

/* The same stack has the same number here, and two stacks have two. */
static uint32_t site_of(uint64_t hash)
{
	static uint32_t number[1u << SITES_LOG2];
	uint32_t i = (uint32_t)(hash >> (64 - SITES_LOG2));

	while (seen[i] != 0 && seen[i] != hash)
		i = (i + 1) % (1u << SITES_LOG2);
	if (seen[i] == 0) {
		seen[i] = hash;
		number[i] = ++sites_made;
	}
	return number[i];
}

/* The hook's frame, in words from the start of the stack. */
static uint64_t top;
/* The words that the last stack was taken from, innermost first. */
static struct {
	uint64_t at, value;
} last[PCS_MAX];
static uint32_t last_count;

/* Notes a stack's words as the last. Returns the number of its last words that were the last
 * stack's. */
static uint32_t shared_with_last(const struct unwind *u)
{
	uint32_t shared = 0, before = last_count;

	while (shared < before && shared < u->guard_count) {
		uint64_t guard = unwind_guard(u, u->guard_count - 1 - shared);

		if (last[before - 1 - shared].at != top + (guard >> STACK_CACHE_VALUE_BITS) ||
			last[before - 1 - shared].value != (guard & STACK_CACHE_VALUE_MASK))
			break;
		shared++;
	}
	last_count = u->guard_count;
	for (uint32_t i = 0; i < last_count; i++) {
		last[i].at = top + (unwind_guard(u, i) >> STACK_CACHE_VALUE_BITS);
		last[i].value = unwind_guard(u, i) & STACK_CACHE_VALUE_MASK;
	}
	return shared;
}

/*
 * An unwinder: where the next return address is depends on the last one and its place, and so does
 * the end. Like the real one it is a function of the words it reads, and stacks that meet end
 * alike.
 */
static uint32_t take(struct unwind *u, uint32_t function)
{
	uint64_t hash = mix(function, top), at = top + 1, step;

	*u = (struct unwind){ .frame = (uintptr_t)(stack + top),
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
		u->unpinned |= (range.module & HT_NODE_UNPINNED) != 0;
		noted[PCS_MAX - 1 - u->guard_count++] =
			(struct unwind_word){ (uint64_t)(uintptr_t)&stack[at], pc };
		hash = mix(hash, pc + ((uint64_t)range.module << 48));
		step = mix(mix(at, pc), range.module);
		at += 1 + step % 4;
	} while (step >> 8 & 31 && u->count < PCS_MAX);
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
	uintptr_t frame = (uintptr_t)(stack + top);

	return stack_cache_find(g, stack_cache_root(g, frame), frame, function);
}

struct tally {
	unsigned found, taken, asked, wrong, counters_kept;
};

static uint32_t sites_seen;
static bool handlers_leave; /* now and then, after the unwinder, and never return */
static bool rechecks; /* stacks that are found are unwound, too */
static bool are_near; /* each shares all but a frame with the one unwound before */

/* One allocation. */
static void allocate(struct stack_cache *g, uint32_t function, struct tally *tally)
{
	unsigned before = finds;
	struct stack_cache_leaf *leaf = find(g, function);
	unsigned asked = finds - before;
	bool again = !leaf || rechecks;
	struct unwind u;
	uint32_t site = take(&u, function);
	bool known = site <= sites_seen;

	sites_seen = known ? sites_seen : site;
	if (again) {
		stack_cache_unwinding(g);
		u.shared = shared_with_last(&u);
		u.kept = are_near ? u.count - 1 : 0;
		if (handlers_leave && random_below(10) == 0)
			return;
	}
	if (leaf)
		tally->found++;
	if (leaf && rechecks)
		stack_cache_unwound(g, &u, leaf);
	if (!leaf)
		leaf = stack_cache_keep(g, &u, function, site, known);
	tally->wrong += leaf->site != site || (leaf->counter != 0 && leaf->counter != 3 * site);
	tally->counters_kept += leaf->counter == 3 * site;
	tally->taken++;
	tally->asked += asked;
	leaf->counter = 3 * site;
}

static uint64_t shown_bytes, forgotten;

static struct stack_cache guards_made(void)
{
	struct stack_cache g = { 0 };

	CHECK(stack_memory_start(&g, (struct stack_cache_shown){ &shown_bytes, &forgotten }));
	memset(seen, 0, sizeof(seen));
	forgotten = 0;
	sites_made = last_count = sites_seen = 0;
	top = 0;
	rechecks = handlers_leave = false;
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
	stack_memory_end(&g, true);
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
	stack_memory_end(&g, true);
}

static struct tally many(uint64_t base, unsigned ways, unsigned rounds)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	for (unsigned i = 0; i < rounds; i++) {
		stack_make(base, ways);
		allocate(&g, HT_FN_MALLOC + (uint32_t)random_below(3), &t);
	}
	CHECK(g.used <= g.words);
	stack_memory_end(&g, true);
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

/* The loader unmapped what was there, and mapped something else. */
static void code_replace(void)
{
	module_now++;
	if (modules_loader.generation > MODULES_NEVER)
		modules_loader.generation++;
}

/* Another word at places near the hook's frame, which is at one of a few: stacks that end like the
 * one before. */
static void stack_change(uint64_t base, unsigned ways)
{
	top = random_below(16);
	for (uint64_t i = top + 1, end = i + random_below(60); i < end; i++)
		stack[i] = base + i * 16 + (random_below(3) ? 0 : random_below(ways)) * 4096;
}

/* What the memory holds. */
struct holding {
	unsigned hops[TAIL_HOPS + 1]; /* records with so many */
	unsigned exits_in_tails;
};

static struct holding holding_of(const struct stack_cache *g)
{
	struct holding h = { 0 };

	for (uint64_t at = used_at_first; at < g->used;) {
		const struct stack_cache_record *r = stack_cache_at(g, at);
		const struct stack_cache_record *parent = stack_cache_at(g, r->key >> 16);

		h.hops[r->hops]++;
		if (r->key & KEY_CHILD)
			h.exits_in_tails += (r->key & UINT16_MAX) >= parent->count;
		at += record_words(r->count, r->hops != 0, r->unpinned);
	}
	return h;
}

/* A memory in which records have tails. */
static struct stack_cache guards_large(void)
{
	struct stack_cache g = guards_made();

	while (g.words < TAIL_ARENA_WORDS && grow(&g))
		;
	CHECK_INT(g.words, TAIL_ARENA_WORDS);
	return g;
}

/* Stacks that end alike share their words, through one record after the other, and part there. */
static void tails(uint64_t base, bool recheck)
{
	struct stack_cache g = guards_large();
	struct tally t = { 0 };
	struct holding h;

	rechecks = recheck;
	stack_make(base, 3);
	for (unsigned i = 0; i < 300000; i++) {
		if (i % 1000 == 0)
			stack_make(base, 3);
		if (base == LOADED && random_below(5000) == 0)
			code_replace();
		stack_change(base, 4);
		allocate(&g, HT_FN_MALLOC + (uint32_t)random_below(2), &t);
	}
	h = holding_of(&g);
	for (unsigned hops = 0; hops <= TAIL_HOPS; hops++)
		CHECK(h.hops[hops] > 20);
	CHECK(h.exits_in_tails > 10);
	CHECK(t.found > t.taken / 20);
	CHECK_INT(t.wrong, 0);
	stack_memory_end(&g, true);
}

TEST(tails_of_code_that_stays)
{
	tails(0x4000, false);
}

TEST(tails_of_stacks_found)
{
	tails(0x4000, true);
}

/* A stack that was unwound but not remembered lends no words. */
TEST(tails_of_stacks_abandoned)
{
	struct stack_cache g = guards_large();
	struct tally t = { 0 };

	handlers_leave = true;
	stack_make(0x4000, 3);
	for (unsigned i = 0; i < 300000; i++) {
		stack_change(0x4000, 4);
		allocate(&g, HT_FN_MALLOC, &t);
	}
	CHECK(holding_of(&g).hops[1] > 20);
	CHECK_INT(t.wrong, 0);
	stack_memory_end(&g, true);
}

TEST(tails_of_code_replaced)
{
	tails(LOADED, false);
}

/* Another word anywhere in a stack whose words are in several records, and nothing is found. */
TEST(every_word_counts_in_tails)
{
	struct stack_cache g = guards_large();
	struct tally t = { 0 };
	unsigned hops = 0;

	stack_make(0x4000, 3);
	for (unsigned i = 0; i < 100000; i++) {
		struct stack_cache_leaf *leaf;
		struct unwind u;

		stack_change(0x4000, 4);
		allocate(&g, HT_FN_MALLOC, &t);
		if (i % 1000 != 0)
			continue;
		take(&u, HT_FN_MALLOC);
		leaf = find(&g, HT_FN_MALLOC);
		CHECK(leaf != NULL);
		hops += leaf && record_of(leaf)->hops != 0;
		for (unsigned k = 0; k < u.guard_count; k++) {
			uint64_t *word =
				&stack[top + (unwind_guard(&u, k) >> STACK_CACHE_VALUE_BITS)];
			uint64_t was = *word;

			*word = was ^ 1ull << (16 + i / 1000 % 48);
			CHECK(find(&g, HT_FN_MALLOC) == NULL);
			*word = was;
		}
	}
	CHECK(hops > 10);
	CHECK_INT(t.wrong, 0);
	stack_memory_end(&g, true);
}

/* Makes the stack begin at another frame whose roots are in the same slot. */
static void collide(const struct stack_cache *g)
{
	uint64_t first = stack[top + 1];
	uint64_t slot = stack_cache_root_hash((uintptr_t)(stack + top), first) & g->root_mask;

	top += 2;
	for (stack[top + 1] = first + 16;; stack[top + 1] += 16)
		if ((stack_cache_root_hash((uintptr_t)(stack + top), stack[top + 1]) &
			    g->root_mask) == slot)
			return;
}

/* The root found last is where the next search looks first. */
TEST(roots_in_one_slot)
{
	struct stack_cache g = guards_made();
	struct tally t = { 0 };

	stack_make(0x4000, 1);
	collide(&g);
	for (int i = 0; i < 10; i++) {
		uintptr_t frame = (uintptr_t)(stack + top);

		allocate(&g, HT_FN_MALLOC, &t);
		if (i > 1)
			CHECK_INT(stack_cache_root(&g, frame)->key,
				stack_cache_key(frame, HT_FN_MALLOC));
		top = i % 3 ? top : 2 - top;
	}
	CHECK_INT(t.found, 8);
	CHECK_INT(t.wrong, 0);
	stack_memory_end(&g, true);
}

/* More than there is memory for: all is forgotten again and again. */
TEST(more_stacks_than_memory)
{
	many(0x4000, 50, 300000);
}

/* What the tables hold survives growth: nothing is taken again because of it. */
static bool handlers_come;
static bool refused; /* there is no memory */

/* The memory may be asked for at a time that a handler must not end. */
void *told_private_resize(void *p, size_t bytes, size_t larger)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	if (refused)
		return NULL;
	handlers_come = !sigismember(&set, SIGUSR1) || !sigismember(&set, SIGALRM);
	return private_resize(p, bytes, larger);
}

static unsigned populations;

void told_private_populate(void *from, size_t bytes)
{
	populations++;
	private_populate(from, bytes);
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
	stack_memory_end(&g, true);
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
	stack_memory_end(&g, true);
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
		stack_memory_end(&g, true);
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
	stack_memory_end(&g, true);
}

/* Stacks number `first` to `first + count`, each by `make`. Returns those found. */
static unsigned numbered_by(
	struct stack_cache *g, unsigned first, unsigned count, void (*make)(unsigned number))
{
	struct tally t = { 0 };

	for (unsigned i = first; i < first + count; i++) {
		make(i);
		allocate(g, HT_FN_MALLOC, &t);
	}
	CHECK_INT(t.wrong, 0);
	return t.found;
}

/* One that parts from others at many words. */
static void parts_often(unsigned number)
{
	seed = mix(number, 1);
	stack_make(0x4000, 50);
}

/* One that parts from others wherever it can: each word is one of two. */
static void parts_always(unsigned number)
{
	seed = mix(number, 1);
	for (unsigned i = 1; i < STACK_WORDS; i++)
		stack[i] = 0x4000 + i * 16 + random_below(2) * 4096;
}

/* One that parts from all others at its second word. */
static void parts_once(unsigned number)
{
	parts_often(number);
	stack[top + 1] = 0x4000;
	for (unsigned i = 2; i < 6; i++)
		stack[top + i] = 0x100000 + ((uint64_t)number << 12) + i * 16;
}

static unsigned numbered(struct stack_cache *g, unsigned first, unsigned count)
{
	return numbered_by(g, first, count, parts_once);
}

#define MANY 10000u /* stacks: about twice what fits into WORDS_KEEP */

TEST(new_stacks_take_little_memory)
{
	struct stack_cache g = guards_made();

	numbered(&g, 0, 4 * MANY);
	CHECK_INT(g.words, WORDS_KEEP);
	CHECK_INT(shown_bytes, bytes_of(WORDS_KEEP));
	CHECK(forgotten >= 2);
	CHECK_INT(beyond, 0);
	stack_memory_end(&g, true);
}

/* Pages of an array of so many words that have memory. */
static uint64_t pages_resident(const uint64_t *words, uint64_t count)
{
	static unsigned char resident[1u << 12];
	uintptr_t from = (uintptr_t)words & ~(uintptr_t)4095, to = (uintptr_t)(words + count);
	uint64_t pages = (to - from + 4095) / 4096, found = 0;

	CHECK(pages <= sizeof(resident) && mincore((void *)from, to - from, resident) == 0);
	for (uint64_t i = 0; i < pages; i++)
		found += resident[i] & 1;
	return found;
}

/* Before it is written, many pages in one call; and no more than a part of what is in use. */
TEST(memory_is_taken_ahead)
{
	struct stack_cache g = guards_made();
	uint64_t most = 0, ahead;

	populations = 0;
	for (unsigned i = 0; g.words < WORDS_KEEP; i++) {
		numbered(&g, i, 1);
		ahead = g.populated > g.used ? g.populated - g.used : 0;
		most = ahead > most ? ahead : most;
	}
	CHECK(most > AHEAD_LEAST && most < AHEAD_MOST + AHEAD_LEAST);
	CHECK(populations < WORDS_KEEP / 512 / 8);
	ahead = pages_resident(g.arena, g.populated);
	CHECK(ahead == 0 || ahead >= g.populated / 512); /* none: the kernel cannot tell, or take */
	stack_memory_end(&g, true);
}

TEST(stacks_that_come_again_take_more)
{
	struct stack_cache g = guards_made();

	for (unsigned turn = 0; turn < 3; turn++)
		numbered(&g, 0, MANY);
	CHECK(g.words > WORDS_KEEP);
	CHECK_INT(beyond, g.words - WORDS_KEEP);
	CHECK_INT(shown_bytes, bytes_of(g.words));
	CHECK(numbered(&g, 0, MANY) > MANY - MANY / 20); /* full buckets lose some */
	stack_memory_end(&g, true);
	CHECK_INT(beyond, 0);
	CHECK_INT(shown_bytes, 0);
}

/* But not if they recur for a while, and then others do. */
TEST(parts_of_the_work_take_no_more)
{
	struct stack_cache g = guards_made();

	for (unsigned part = 0; part < 20; part++)
		for (unsigned turn = 0; turn < 2; turn++)
			numbered(&g, part * MANY, MANY * 7 / 10);
	CHECK_INT(g.words, WORDS_KEEP);
	CHECK(forgotten >= 20);
	stack_memory_end(&g, true);
}

/* While all stacks are new none is remembered or searched for, until some come again. */
TEST(new_stacks_are_let_pass)
{
	struct stack_cache g = guards_made();
	uint64_t used, times;

	for (unsigned i = 0; i < 4 * MANY && !g.blind; i += 100)
		numbered(&g, i, 100);
	CHECK(g.blind);
	used = g.used;
	times = forgotten;
	numbered(&g, 4 * MANY, MANY / 8);
	CHECK(g.blind);
	CHECK_INT(g.used, used);
	CHECK_INT(forgotten, times);
	for (unsigned turn = 0; turn < 4; turn++)
		numbered(&g, 0, MANY / 20);
	CHECK(!g.blind);
	CHECK(numbered(&g, 0, MANY / 20) > MANY / 20 - MANY / 400);
	stack_memory_end(&g, true);
}

/* Stacks that are found by way of many exits are unwound again instead: that takes no memory. */
TEST(deep_searches_take_no_more)
{
	struct stack_cache g = guards_made();
	unsigned found = 0;
	uint64_t used, times;

	are_near = true;
	for (unsigned i = 0; i < MANY && !g.deep; i += 100)
		numbered_by(&g, i, 100, parts_always);
	CHECK(g.deep);
	CHECK_INT(g.words, WORDS_KEEP);
	/* For as long as filling the memory took. */
	used = g.used;
	times = forgotten;
	numbered_by(&g, 0, (unsigned)g.window / 2, parts_always);
	CHECK(g.blind);
	CHECK_INT(g.used, used);
	CHECK_INT(forgotten, times);
	/* Nor when it tries again, and all of them come again. */
	while (forgotten < times + 3)
		numbered_by(&g, 0, MANY, parts_always);
	CHECK_INT(g.words, WORDS_KEEP);
	/* Others come: they are remembered in the end. */
	for (unsigned turn = 0; turn < 20 * (PATIENCE_MAX + 1) && found < MANY / 20 - MANY / 400;
		turn++)
		found = numbered(&g, MANY, MANY / 20);
	CHECK(found >= MANY / 20 - MANY / 400);
	CHECK(!g.deep);
	are_near = false;
	stack_memory_end(&g, true);
}

/* Unless each is far from the one before, so that all of it must be unwound. */
TEST(deep_searches_go_on_where_stacks_are_apart)
{
	struct stack_cache g = guards_made();

	for (unsigned i = 0; i < MANY && !g.apart; i += 100)
		numbered_by(&g, i, 100, parts_always);
	CHECK(g.apart);
	CHECK(!g.deep);
	for (unsigned turn = 0; turn < 3; turn++)
		numbered_by(&g, 0, MANY, parts_always);
	CHECK(!g.deep);
	CHECK(g.words > WORDS_KEEP);
	stack_memory_end(&g, true);
}

/* What other threads have is not there for this one, until they end. Meanwhile what fits serves. */
TEST(all_threads_have_one_bound)
{
	struct stack_cache g = guards_made();
	unsigned found;

	beyond = beyond_max();
	for (unsigned turn = 0; turn < 3; turn++)
		numbered(&g, 0, MANY);
	CHECK_INT(g.words, WORDS_KEEP);
	CHECK_INT(beyond, beyond_max());
	CHECK_INT(forgotten, 1); /* nothing to prepare for: it cannot grow */
	found = numbered(&g, 0, MANY);
	CHECK(found > MANY / 8 && found < MANY);
	beyond = 0;
	for (unsigned turn = 0; turn < 3; turn++)
		numbered(&g, 0, MANY);
	CHECK(g.words > WORDS_KEEP);
	CHECK(numbered(&g, 0, MANY) > MANY - MANY / 20);
	stack_memory_end(&g, true);
}

TEST(memory_is_refused)
{
	struct stack_cache g = guards_made();

	refused = true;
	for (unsigned turn = 0; turn < 3; turn++)
		numbered(&g, 0, MANY);
	CHECK_INT(g.words, WORDS_FIRST);
	CHECK_INT(beyond, 0);
	refused = false;
	stack_memory_end(&g, true);
}

/* Other stacks come, after those that fitted: they are remembered before long. */
TEST(full_memory_that_serves_no_more)
{
	struct stack_cache g = guards_made();

	beyond = beyond_max();
	for (unsigned i = 0; i < 4 * MANY && !g.full; i += 100)
		numbered(&g, i % MANY, 100);
	CHECK(g.full);
	for (unsigned turn = 0; turn < 40; turn++)
		numbered(&g, MANY, MANY / 20);
	CHECK(numbered(&g, MANY, MANY / 20) > MANY / 20 - MANY / 400);
	beyond = 0;
	stack_memory_end(&g, true);
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
	stack_memory_end(&g, true);
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
	stack_memory_end(&g, true);
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
	leaf = stack_cache_keep(&g, &u, HT_FN_MALLOC, 5, false);
	CHECK(leaf && leaf->site == 5 && leaf->counter == 0);
	u.repeatable = true;
	leaf = stack_cache_keep(&g, &u, HT_FN_MALLOC, 0, false);
	CHECK(leaf && leaf->site == 0);
	CHECK(find(&g, HT_FN_MALLOC) == NULL);
	stack_memory_end(&g, true);
}

int main(void)
{
	RUN(a_stack_again);
	RUN(every_word_counts);
	RUN(few_stacks);
	RUN(many_stacks);
	RUN(tails_of_code_that_stays);
	RUN(tails_of_stacks_found);
	RUN(tails_of_stacks_abandoned);
	RUN(tails_of_code_replaced);
	RUN(every_word_counts_in_tails);
	RUN(roots_in_one_slot);
	RUN(more_stacks_than_memory);
	RUN(growth_is_not_left);
	RUN(growth_forgets_nothing);
	RUN(code_replaced);
	RUN(code_replaced_under_many_stacks);
	RUN(new_stacks_take_little_memory);
	RUN(new_stacks_are_let_pass);
	RUN(memory_is_taken_ahead);
	RUN(stacks_that_come_again_take_more);
	RUN(parts_of_the_work_take_no_more);
	RUN(deep_searches_take_no_more);
	RUN(deep_searches_go_on_where_stacks_are_apart);
	RUN(all_threads_have_one_bound);
	RUN(memory_is_refused);
	RUN(full_memory_that_serves_no_more);
	RUN(code_stays);
	RUN(code_outside);
	RUN(not_remembered);
	return check_end();
}
