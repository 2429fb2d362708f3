/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks (stack_cache.h).
 *
 * A record is a run of expected words that ends in a leaf. A root record begins at a hook's frame;
 * its key is that frame and its return address. The record that continues with another word, found
 * where a record differs from the stack, is that record's first exit or is in `exits`. Both tables
 * are hashes with buckets of 4: an overwritten record is forgotten and unwound again. They grow
 * with the memory for records; when that may not grow any more, all records are forgotten.
 */
#include "preload/stack_cache.h"

#include <string.h>

#include "preload/modules.h"
#include "preload/signals.h"
#include "shm/layout.h"
#include "shm/private.h"

#define WORDS_FIRST    (1u << 14) /* 128 KB: what most threads need */
#define WORDS_MAX      (1u << 19) /* 4 MB: some ten thousand stacks */
#define TABLE_SHIFT    3u /* words of the arena to a slot in each table: records are longer */
#define BUCKET	       4u /* slots */
#define UNPINNED_MAX   6u /* unloadable objects in a stack; with more it is not remembered */
#define UNPINNED_WORDS 2u /* an address, and its module */

#define KEY_NONE  0ull /* of no stack: record 0, and forgotten records */
#define KEY_CHILD (1ull << 63)
#define NO_WORD	  UINT16_MAX

static uint64_t child_key(uint32_t parent, uint32_t word)
{
	return KEY_CHILD | (uint64_t)parent << 16 | word;
}

static uint64_t exit_index(const struct stack_cache *g, uint64_t key, uint64_t word)
{
	uint64_t h = (key ^ word << 23 ^ word >> 19) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 32) * 0x9fb21c651e98df25ull >> 44 & g->mask;
}

/* ---- a record's words, in the form of struct unwind's guards ---- */

#define BLOCK_WORDS (sizeof(struct stack_cache_block) / sizeof(uint64_t))

static uint64_t word_get(const struct stack_cache_record *r, uint32_t i)
{
	const struct stack_cache_block *b = &r->block[i / STACK_CACHE_BLOCK];

	return b->at >> i % STACK_CACHE_BLOCK * STACK_CACHE_AT_BITS << STACK_CACHE_VALUE_BITS |
	       b->value[i % STACK_CACHE_BLOCK];
}

static void word_set(struct stack_cache_record *r, uint32_t i, uint64_t at, uint64_t value)
{
	struct stack_cache_block *b = &r->block[i / STACK_CACHE_BLOCK];

	/* In order: the first word of a block clears what the block held before. */
	b->at = (i % STACK_CACHE_BLOCK ? b->at : 0) |
		at << i % STACK_CACHE_BLOCK * STACK_CACHE_AT_BITS;
	b->value[i % STACK_CACHE_BLOCK] = value;
}

/* Blocks of a record of `count` words, and its end. */
static uint64_t blocks_of(uint64_t count)
{
	return count / STACK_CACHE_BLOCK + 1;
}

/* ---- finding ---- */

static uint32_t at_of(const struct stack_cache *g, const struct stack_cache_record *r)
{
	return (uint32_t)((const uint64_t *)(const void *)r - g->arena);
}

/* The record with this key in the bucket of `index`; NULL: none. */
static struct stack_cache_record *root_search(
	const struct stack_cache *g, uint64_t key, uint64_t index)
{
	for (unsigned i = 0; i < BUCKET; i++) {
		struct stack_cache_record *r = stack_cache_at(g, g->roots[index ^ i]);

		if (r->key == key)
			return r;
	}
	return NULL;
}

/* The record that leaves `parent` at `word` with the value `now`. */
static struct stack_cache_record *exit_search(const struct stack_cache *g,
	const struct stack_cache_record *parent, uint32_t word, uint64_t now)
{
	uint64_t key = child_key(at_of(g, parent), word), index;
	struct stack_cache_record *r = stack_cache_at(g, parent->exit);

	if (parent->exit_at == word && r->first == now && r->key == key)
		return r;
	index = exit_index(g, key, now);
	for (unsigned i = 0; i < BUCKET; i++) {
		r = stack_cache_at(g, g->exits[index ^ i]);
		if (r->key == key && r->first == now)
			return r;
	}
	return NULL;
}

/* The stack's word in place of a record's value; 0 if it cannot be remembered. */
static uint64_t word_now(uintptr_t frame, struct stack_cache_place place)
{
	uint64_t at = place.block->at >> place.in_block * STACK_CACHE_AT_BITS & UINT16_MAX;
	uint64_t value = ((const uint64_t *)frame)[at];

	return value > STACK_CACHE_VALUE_MASK ? 0 : at << STACK_CACHE_VALUE_BITS | value;
}

/* The objects that may be unloaded: an address in each, and its module. */
static const uint64_t *unpinned_of(const struct stack_cache_record *r)
{
	return (const uint64_t *)&r->block[blocks_of(r->count)];
}

static bool modules_equal(const struct stack_cache_record *r)
{
	const uint64_t *unpinned = unpinned_of(r);

	for (unsigned i = 0; i < r->leaf.unpinned; i++, unpinned += UNPINNED_WORDS) {
		struct module_range range;

		modules_find(unpinned[0], &range);
		if (range.module != unpinned[1])
			return false;
	}
	return true;
}

bool stack_cache_prove(struct stack_cache_record *r)
{
	uint32_t generation = modules_generation(); /* first: edge UNLOAD */

	if (!modules_equal(r))
		return false;
	if (r->leaf.proved != STACK_CACHE_UNPROVED && generation > MODULES_NEVER)
		r->leaf.proved = generation;
	return true;
}

struct stack_cache_leaf *stack_cache_branch(struct stack_cache *g, uintptr_t frame,
	struct stack_cache_record *r, struct stack_cache_place place)
{
	while (!stack_cache_is_end(place)) {
		uint32_t word =
			(uint32_t)(place.block - r->block) * STACK_CACHE_BLOCK + place.in_block;

		r = exit_search(g, r, word, word_now(frame, place));
		if (!r || !stack_cache_holds(r))
			return NULL;
		place = stack_cache_compare(frame, r->block);
	}
	return &r->leaf;
}

struct stack_cache_leaf *stack_cache_search(
	struct stack_cache *g, uintptr_t frame, uint32_t function)
{
	uint64_t index = stack_cache_root_index(g, frame, ((const uint64_t *)frame)[1]);
	struct stack_cache_record *r = root_search(g, stack_cache_key(frame, function), index);

	if (!r || !stack_cache_holds(r))
		return NULL;
	return stack_cache_branch(g, frame, r, stack_cache_compare(frame, r->block));
}

/* ---- memory ---- */

static uint64_t table_slots(uint64_t words)
{
	return words >> TABLE_SHIFT;
}

static size_t bytes_of(uint64_t words)
{
	return words * sizeof(uint64_t) + 2 * table_slots(words) * sizeof(uint32_t);
}

/* Both tables and the arena, in one mapping. Record 0 is none: no stack has its key. */
static bool stack_cache_map(struct stack_cache *g, uint64_t words)
{
	void *p = private_map(bytes_of(words));

	if (!p)
		return false;
	*g = (struct stack_cache){ .roots = p,
		.exits = (uint32_t *)p + table_slots(words),
		.arena = (uint64_t *)p + table_slots(words),
		.mask = table_slots(words) - 1,
		.words = words,
		.used = sizeof(struct stack_cache_record) / sizeof(uint64_t) + 1 };
	return true;
}

bool stack_cache_start(struct stack_cache *g)
{
	return stack_cache_map(g, WORDS_FIRST);
}

void stack_cache_end(struct stack_cache *g)
{
	if (g->roots)
		private_unmap(g->roots, bytes_of(g->words));
}

static void forget_all(struct stack_cache *g)
{
	memset(g->roots, 0, table_slots(g->words) * sizeof(*g->roots));
	memset(g->exits, 0, table_slots(g->words) * sizeof(*g->exits));
	ht_fence_handler(); /* a handler that leaves before this forgets less */
	g->used = sizeof(struct stack_cache_record) / sizeof(uint64_t) + 1;
}

/* Makes a record impossible to find. */
static void forget(struct stack_cache_record *r)
{
	r->key = KEY_NONE;
}

static bool is_forgotten(const struct stack_cache *g, uint32_t at)
{
	return stack_cache_at(g, at)->key == KEY_NONE;
}

/* Enters a record into a table: in a free slot of its bucket, or else in place of the first. */
static void enter(const struct stack_cache *g, uint32_t *table, uint64_t index, uint32_t at)
{
	for (unsigned i = 0; i < BUCKET; i++) {
		if (is_forgotten(g, table[index ^ i])) {
			table[index ^ i] = at;
			return;
		}
	}
	table[index] = at;
}

static void root_enter(struct stack_cache *g, const struct stack_cache_record *r)
{
	enter(g, g->roots,
		stack_cache_root_index(g, r->key & STACK_CACHE_VALUE_MASK, r->block[0].value[0]),
		at_of(g, r));
}

static void exit_enter(struct stack_cache *g, const struct stack_cache_record *r)
{
	struct stack_cache_record *parent = stack_cache_at(g, (uint32_t)(r->key >> 16 & INT32_MAX));

	if (is_forgotten(g, parent->exit)) {
		parent->exit = at_of(g, r);
		parent->exit_at = (uint16_t)r->key;
	} else if (parent->exit != at_of(g, r)) {
		enter(g, g->exits, exit_index(g, r->key, r->first), at_of(g, r));
	}
}

static void record_enter(struct stack_cache *g, const struct stack_cache_record *r)
{
	if (r->key & KEY_CHILD)
		exit_enter(g, r);
	else if (r->key != KEY_NONE)
		root_enter(g, r);
}

static uint64_t record_words(uint64_t count, uint64_t unpinned)
{
	return sizeof(struct stack_cache_record) / sizeof(uint64_t) +
	       blocks_of(count) * BLOCK_WORDS + unpinned * UNPINNED_WORDS;
}

static bool grow_to(struct stack_cache *g, uint64_t words)
{
	struct stack_cache old = *g;

	if (!stack_cache_map(g, words))
		return false;
	memcpy(g->arena, old.arena, old.used * sizeof(uint64_t));
	while (g->used < old.used) {
		const struct stack_cache_record *r = stack_cache_at(g, (uint32_t)g->used);

		record_enter(g, r);
		g->used += record_words(r->count, r->leaf.unpinned);
	}
	stack_cache_end(&old);
	return true;
}

/* Doubles the memory. False: it stays as it is. Signals are blocked, so that no handler abandons
 * this. */
static bool grow(struct stack_cache *g)
{
	uint64_t signals;
	bool grown;

	if (g->words == WORDS_MAX)
		return false;
	signals = signals_block();
	grown = grow_to(g, 2 * g->words);
	signals_restore(signals);
	return grown;
}

/* ---- remembering ---- */

static bool unpinned_has(const struct stack_cache_record *r, uint32_t module)
{
	const uint64_t *unpinned = unpinned_of(r);

	for (unsigned i = 0; i < r->leaf.unpinned; i++)
		if (unpinned[i * UNPINNED_WORDS + 1] == module)
			return true;
	return false;
}

/* Lists one frame in each unloadable object. False: there are too many. Code outside any object is
 * a module of its own at each address, and nothing tells us what is later mapped there. */
static bool unpinned_fill(struct stack_cache_record *r, const struct unwind *u)
{
	uint64_t *out = (uint64_t *)&r->block[blocks_of(r->count)];

	r->leaf.proved = u->generation > MODULES_NEVER ? u->generation : STACK_CACHE_UNPROVED;
	for (uint32_t i = 0; i < u->count; i++) {
		bool outside = u->modules[i] == HT_NODE_UNPINNED;

		if (!(u->modules[i] & HT_NODE_UNPINNED) ||
			(!outside && unpinned_has(r, u->modules[i])))
			continue;
		if (r->leaf.unpinned == UNPINNED_MAX)
			return false;
		*out++ = u->pcs[i];
		*out++ = u->modules[i];
		r->leaf.unpinned++;
		if (outside)
			r->leaf.proved = STACK_CACHE_UNPROVED;
	}
	if (r->leaf.unpinned == 0)
		r->leaf.proved = STACK_CACHE_PINNED;
	return true;
}

/* Writes the record of a stack's words from `from` on; a child's first word is not among its
 * blocks. NULL: it cannot be remembered. */
static struct stack_cache_record *record_new(
	struct stack_cache *g, const struct unwind *u, uint32_t from, uint64_t key, uint32_t site)
{
	struct stack_cache_record *r = stack_cache_at(g, (uint32_t)g->used);
	uint64_t first = unwind_guard(u, from);

	from += (key & KEY_CHILD) != 0;
	*r = (struct stack_cache_record){ .key = key,
		.first = first,
		.leaf = { .site = site },
		.exit_at = NO_WORD,
		.count = (uint16_t)(u->guard_count - from) };
	for (uint32_t i = 0; i < r->count; i++)
		word_set(r, i, unwind_guard(u, from + i) >> STACK_CACHE_VALUE_BITS,
			unwind_guard(u, from + i) & STACK_CACHE_VALUE_MASK);
	word_set(r, r->count, STACK_CACHE_END_AT, STACK_CACHE_END);
	if (!unpinned_fill(r, u))
		return NULL;
	/* Complete before it counts, and counted before it can be found, wherever a handler leaves.
	 */
	ht_fence_handler();
	g->used += record_words(r->count, r->leaf.unpinned);
	ht_fence_handler();
	record_enter(g, r);
	return r;
}

/* The number of words that a stack, from `from` on, has in common with a record. */
static uint32_t words_common(
	const struct stack_cache_record *r, const struct unwind *u, uint32_t from)
{
	uint32_t i = 0;

	while (i < r->count && from + i < u->guard_count &&
		word_get(r, i) == unwind_guard(u, from + i))
		i++;
	return i;
}

/* Whether a stack leaves a record as another stack does: at a word that both have, with different
 * values. Which word comes next depends on the words before, as long as the code is the same. */
static bool parts_rightly(
	const struct stack_cache_record *r, uint32_t i, const struct unwind *u, uint32_t from)
{
	return i < r->count && from + i < u->guard_count &&
	       (word_get(r, i) ^ unwind_guard(u, from + i)) >> STACK_CACHE_VALUE_BITS == 0;
}

/* Follows the stack's words as far as they are remembered, and adds the rest there. `begin`: the
 * first word that the current record's blocks hold; `left`: the word at which it was left. */
static struct stack_cache_record *remember(
	struct stack_cache *g, const struct unwind *u, uint64_t root, uint32_t site)
{
	uint64_t index =
		stack_cache_root_index(g, u->frame, unwind_guard(u, 0) & STACK_CACHE_VALUE_MASK);
	struct stack_cache_record *r = root_search(g, root, index);
	uint32_t begin = 0, left = 0;
	uint64_t key = root;

	while (r && stack_cache_holds(r)) {
		uint32_t i = words_common(r, u, begin);

		if (!parts_rightly(r, i, u, begin)) {
			forget_all(g); /* code was replaced unnoticed */
			return record_new(g, u, 0, root, site);
		}
		key = child_key(at_of(g, r), i);
		left = begin + i;
		r = exit_search(g, r, i, unwind_guard(u, left));
		begin = left + 1;
	}
	if (r)
		forget(r);
	return record_new(g, u, left, key, site);
}

/* Makes room for the longest record that the stack may need. False: that forgot all records. */
static bool make_room(struct stack_cache *g, const struct unwind *u)
{
	uint64_t words = record_words(u->guard_count, UNPINNED_MAX);

	if (g->used + words <= g->words || grow(g))
		return true;
	forget_all(g);
	return false;
}

struct stack_cache_leaf *stack_cache_keep(
	struct stack_cache *g, const struct unwind *u, uint32_t function, uint32_t site)
{
	struct stack_cache_record *r = NULL;

	if (u->repeatable && u->guard_count != 0 && site != 0 && make_room(g, u))
		r = remember(g, u, stack_cache_key(u->frame, function), site);
	if (r)
		return &r->leaf;
	g->spare = (struct stack_cache_leaf){ .site = site };
	return &g->spare;
}
