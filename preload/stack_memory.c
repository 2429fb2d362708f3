/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of remembered stacks (stack_memory.h).
 *
 * One mapping: the arena, then both tables. Growing keeps each record's place in the arena. The
 * tables are written anew from the old ones alone, which hold enough of each hash.
 *
 * More memory helps only if forgotten stacks recur: those that made no new site. And it has a
 * price, which each search pays: what is in use lies among what is not, and more of it misses the
 * processor's caches. A program that goes from one part of its work to another, as compilers do, is
 * better served by forgetting all and remembering anew what it uses now. So the memory grows beyond
 * WORDS_KEEP only if stacks that recur are most of those unwound the second time in succession that
 * it has no room. If stacks recur but do not all fit, each would be forgotten just before it
 * recurs: then the memory stays unchanged for as long as it is useful, judged by the stacks found
 * since.
 *
 * Remembered stacks may be of no use at all. Then no more are remembered, and exits are not
 * searched, since each would be a cache miss. The same holds if a search leads through many
 * exits, as in a recursion: unwinding the part that differs from the previous stack takes less
 * time. From time to time the memory tries again.
 */
#include "preload/stack_memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "preload/call.h"
#include "preload/signals.h"
#include "shm/atomic.h"
#include "shm/private.h"

#define WORDS_FIRST (1u << 12) /* 32 KB: what short programs need */
#define WORDS_KEEP  (1u << 17) /* 1 MB: one or two thousand stacks */
#define WORDS_MAX   (1u << 21) /* 16 MB: of a larger one each access misses the caches */
#define WORDS_HUGE  (1u << 20) /* from here on huge pages are worth their zeroing */
/* So many are populated in one call: a part of those in use, since short programs need few. */
#define AHEAD_PART  4u
#define AHEAD_LEAST 512u /* a page */
#define AHEAD_MOST  8192u /* 64 KB */
/* Beyond WORDS_KEEP, of all threads. */
#define BEYOND_MAX_BYTES (64ull << 20)
#define BEYOND_MAX_PART	 16u /* of the machine's memory */

/* Words of the arena to a slot in each table. Records are longer; most are exits. */
#define ROOTS_SHIFT 4u
#define EXITS_SHIFT 3u

#define AGAIN_PART	1u /* stacks that come again to each new one: what was forgotten is in use */
#define SERVES_PART	16u /* stacks that miss to each found: the memory is of no use */
#define DEEP		3u /* exits to a search */
#define NEAR		4u /* frames to a stack: so many are unwound in the time of DEEP exits */
#define AGAIN_SOON_PART 8u /* of a window: stacks that come again end a time of new ones */
#define PATIENCE_MAX	15u /* a full memory stays so many times what filling it takes */

/* Words beyond WORDS_KEEP. */
static uint64_t beyond;

static uint64_t root_slots(uint64_t words)
{
	return words >> ROOTS_SHIFT;
}

static uint64_t exit_slots(uint64_t words)
{
	return words >> EXITS_SHIFT;
}

static size_t bytes_of(uint64_t words)
{
	return (words + root_slots(words) + exit_slots(words)) * sizeof(uint64_t);
}

/* Lays out a mapping. Record 0 is none: no stack has its key. */
static void lay_out(struct stack_cache *g, void *mapping, uint64_t words)
{
	g->arena = mapping;
	g->roots = g->arena + words;
	g->exits = g->roots + root_slots(words);
	g->root_mask = root_slots(words) - 1;
	g->exit_mask = exit_slots(words) - 1;
	g->words = words;
}

static const uint64_t used_at_first = sizeof(struct stack_cache_record) / sizeof(uint64_t) + 1;

bool stack_memory_start(struct stack_cache *g, struct stack_cache_shown shown)
{
	void *mapping = private_map(bytes_of(WORDS_FIRST));

	if (!mapping)
		return false;
	lay_out(g, mapping, WORDS_FIRST);
	g->used = used_at_first;
	g->shown = shown;
	ht_add_relaxed_64(shown.bytes, bytes_of(WORDS_FIRST));
	return true;
}

static uint64_t beyond_of(uint64_t words)
{
	return words > WORDS_KEEP ? words - WORDS_KEEP : 0;
}

void stack_memory_end(struct stack_cache *g, bool shown_too)
{
	if (!g->arena)
		return;
	ht_add_relaxed_64(&beyond, -beyond_of(g->words)); /* a sum: nothing is published by it */
	if (shown_too)
		ht_add_relaxed_64(g->shown.bytes, -bytes_of(g->words));
	private_unmap(g->arena, bytes_of(g->words));
}

void stack_memory_forked(void)
{
	beyond = 0;
}

void stack_memory_forget_all(struct stack_cache *g)
{
	ht_add_relaxed_64(g->shown.forgotten, 1);
	g->stop.known = false;
	g->last.record = g->previous.record = 0;
	memset(g->roots, 0, root_slots(g->words) * sizeof(*g->roots));
	memset(g->exits, 0, exit_slots(g->words) * sizeof(*g->exits));
	ht_fence_handler(); /* a handler that leaves before this forgets less */
	g->used = used_at_first;
	g->blind = g->deep = false;
	g->use = (struct stack_cache_use){ 0 };
}

void stack_memory_hide(struct stack_cache *g)
{
	memset(g->roots, 0, root_slots(g->words) * sizeof(*g->roots));
}

/* Moves the entries of a table into one of twice its size. A slot's bucket follows from its hash,
 * its place in the bucket is kept. */
static void table_copy(const uint64_t *from, uint64_t slots, uint64_t *to)
{
	for (uint64_t i = 0; i < slots; i++)
		if (from[i])
			to[i | (from[i] >> 32 & slots)] = from[i];
}

static uint64_t beyond_max(void)
{
	static uint64_t words; /* any thread computes the same */
	uint64_t most = BEYOND_MAX_BYTES;
#ifdef CALL_EXISTS
	struct sysinfo machine = { 0 };

	if (ht_load_relaxed_64(&words))
		return ht_load_relaxed_64(&words);
	if (call(SYS_sysinfo, call_pointer(&machine), 0, 0, 0, 0) == 0 &&
		machine.totalram / BEYOND_MAX_PART < most / machine.mem_unit)
		most = (uint64_t)machine.totalram * machine.mem_unit / BEYOND_MAX_PART;
#endif
	ht_store_relaxed_64(&words, most / sizeof(uint64_t));
	return most / sizeof(uint64_t);
}

/* Claims memory beyond WORDS_KEEP. False: all threads together have as much as they may. */
static bool beyond_claim(uint64_t words)
{
	if (words == 0 || ht_add_relaxed_64(&beyond, words) + words <= beyond_max())
		return true;
	ht_add_relaxed_64(&beyond, -words);
	return false;
}

/* Whether the memory can be doubled now. */
static bool may_grow(const struct stack_cache *g)
{
	uint64_t words = 2 * g->words, more = beyond_of(words) - beyond_of(g->words);

	return words <= WORDS_MAX && ht_load_relaxed_64(&beyond) + more <= beyond_max();
}

static bool grow_to(struct stack_cache *g, uint64_t words)
{
	struct stack_cache old = *g;
	void *mapping = private_resize(g->arena, bytes_of(old.words), bytes_of(words));

	if (!mapping)
		return false;
	lay_out(g, mapping, words);
	if (words >= WORDS_HUGE) {
		private_prefer_huge(mapping, bytes_of(words));
		g->populated = words;
	} else {
		/* Copying the tables touches all of it. */
		private_populate(g->roots, bytes_of(words) - words * sizeof(uint64_t));
	}
	ht_add_relaxed_64(g->shown.bytes, bytes_of(words) - bytes_of(old.words));
	/* The old tables have become the beginning of the arena's new part. */
	lay_out(&old, mapping, old.words);
	table_copy(old.roots, root_slots(old.words), g->roots);
	table_copy(old.exits, exit_slots(old.words), g->exits);
	g->use = (struct stack_cache_use){ 0 };
	return true;
}

/* Doubles the memory. False: it stays as it is. Signals are blocked, so that no handler abandons
 * this. */
static bool grow(struct stack_cache *g)
{
	uint64_t words = 2 * g->words, more = beyond_of(words) - beyond_of(g->words), signals;
	bool grown;

	if (words > WORDS_MAX)
		return false;
	signals = signals_block();
	grown = beyond_claim(more) && grow_to(g, words);
	signals_restore(signals);
	return grown;
}

static uint64_t misses(const struct stack_cache_use *use)
{
	return (uint64_t)use->news + use->again;
}

/* Whether more memory would have held what was unwound since it was last judged. */
static bool comes_again(const struct stack_cache *g)
{
	return g->use.again / AGAIN_PART > g->use.news;
}

/* Whether searches lead through many exits. With so much memory each is a miss of the processor's
 * caches, and what differs from the stack before is unwound again in less time. */
static bool is_deep(const struct stack_cache *g)
{
	return g->words >= WORDS_KEEP && !g->apart && g->use.exits > DEEP * g->use.searches;
}

/* Whether what the full memory holds still comes. */
static bool serves(const struct stack_cache *g)
{
	return g->use.found >= misses(&g->use) / SERVES_PART;
}

/* Whether what is remembered has been of no use for as long as it took to fill the memory: stacks
 * are new, and will be. */
static bool is_useless(const struct stack_cache *g)
{
	return g->words >= WORDS_KEEP && !comes_again(g) && !serves(g);
}

/* A memory was filled for the first time since it was empty or grew. What takes many exits is to be
 * unwound for as long as it took to fill the memory, hits included. */
static void filled(struct stack_cache *g)
{
	g->deep = is_deep(g);
	g->window = misses(&g->use) + (g->deep ? g->use.found : 0);
	g->patience = g->patience < PATIENCE_MAX ? 2 * g->patience + 1 : g->patience;
	g->windows = 0;
}

/* At the first record without room, and after each further `window` misses: whether to leave the
 * memory as it is. Other stacks would perhaps serve better: it forgets all to find out, and less
 * often each time that what came then did not fit either, or was new. */
static bool stays(struct stack_cache *g)
{
	bool again = comes_again(g), useless = is_useless(g);

	if (!g->full)
		filled(g);
	else if (g->deep)
		g->apart = g->use.frames > NEAR * misses(&g->use);
	g->deep = g->deep && !g->apart;
	/* A memory just filled has not shown yet what it serves. */
	g->blind = g->deep || useless || (g->full && !serves(g));
	/* Where all were new it is to be judged as soon as stacks come again. */
	g->again_most = g->blind && !g->deep ? g->window / AGAIN_SOON_PART : UINT64_MAX;
	g->full = (g->deep || useless || (again && (!g->full || serves(g)))) &&
		  g->windows++ < g->patience;
	if (!again && !useless && !g->deep)
		g->patience = 0;
	g->use = (struct stack_cache_use){ 0 };
	return g->full;
}

static uint64_t between(uint64_t least, uint64_t words, uint64_t most)
{
	return words < least ? least : words > most ? most : words;
}

/* Takes memory for the records that come next. */
static void take_ahead(struct stack_cache *g)
{
	uint64_t from = g->populated > g->used ? g->populated : g->used;
	uint64_t words = between(AHEAD_LEAST, g->used / AHEAD_PART, AHEAD_MOST);

	if (words > g->words - from)
		words = g->words - from;
	private_populate(g->arena + from, words * sizeof(uint64_t));
	g->populated = from + words;
}

enum growth {
	GROWTH_NONE,
	GROWTH_NEXT, /* if it is the same the next time */
	GROWTH_NOW,
};

/* What to do about a memory without room. */
static enum growth growth_judged(struct stack_cache *g)
{
	bool before = g->recurs;

	if (g->words < WORDS_KEEP)
		return g->blind ? GROWTH_NONE : GROWTH_NOW;
	g->recurs = !g->blind && !is_deep(g) && comes_again(g) && may_grow(g);
	return !g->recurs ? GROWTH_NONE : before ? GROWTH_NOW : GROWTH_NEXT;
}

bool stack_memory_room(struct stack_cache *g, uint64_t words)
{
	if (g->full ? stack_memory_stays(g) : g->used + words <= g->words) {
		if (__builtin_expect(g->used + words > g->populated, 0) && !g->full &&
			g->populated < g->words)
			take_ahead(g);
		return !g->full;
	}
	switch (growth_judged(g)) {
	case GROWTH_NOW:
		if (!grow(g))
			break;
		g->full = false;
		g->patience = 0;
		return true;
	case GROWTH_NEXT:
		g->full = false;
		stack_memory_forget_all(g);
		return true;
	case GROWTH_NONE:
		break;
	}
	if (stays(g))
		return false;
	stack_memory_forget_all(g);
	return true;
}
