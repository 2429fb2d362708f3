/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks (stack_cache.h).
 *
 * A record is a run of expected words that ends in a leaf. A root record begins at a hook's frame;
 * its key is that frame and its return address. The record that continues with another word, found
 * where a record differs from the stack, is that record's first exit or is in `exits`. Both tables
 * are hashes with buckets of 4: an overwritten record is forgotten and unwound again. A root that
 * is found in another slot of its bucket than its own moves there.
 *
 * Tails: successive stacks mostly end in the same words at the same addresses. Once there are many
 * records, one of a stack that ends like the one unwound before it holds only the words that
 * differ, and the place where the others follow in that stack's record. These are the words that
 * the unwinder read, in the order in which it read them. A record's words stay as they are until
 * all records are forgotten. So words by reference prove what words by copy prove: the comparison
 * reads the same addresses and expects the same values. Exits belong to the record whose stack is
 * being compared, not to those that lend it words: its words are numbered through its tail.
 */
#include "preload/stack_cache.h"

#include "preload/modules.h"
#include "shm/layout.h"
#include "shm/wide.h"

#define BUCKET	       4u /* slots */
#define UNPINNED_MAX   6u /* unloadable objects in a stack; with more it is not remembered */
#define UNPINNED_WORDS 2u /* an address, and its module */

/* Tails: with less memory than this, records are whole, and compared in one go. */
#define TAIL_ARENA_WORDS (1u << 19)
#define TAIL_LEAST	 8u /* words: fewer are copied */
#define TAIL_HOPS	 1u /* at most */

/* What a record has bits for. */
#define HOPS_MASK     3u
#define UNPINNED_MASK 7u
#define COUNT_MAX     4095u

#define KEY_NONE  0ull /* of no stack: record 0, and forgotten records */
#define KEY_CHILD (1ull << 63)
#define NO_WORD	  UINT16_MAX

/* ---- records ---- */

#define BLOCK_WORDS (sizeof(struct stack_cache_block) / sizeof(uint64_t))

/* Blocks of a record of `count` words, and its end. */
static uint64_t blocks_of(uint64_t count)
{
	return count / STACK_CACHE_BLOCK + 1;
}

static uint64_t record_words(uint64_t count, bool tail, uint64_t unpinned)
{
	return sizeof(struct stack_cache_record) / sizeof(uint64_t) +
	       blocks_of(count) * BLOCK_WORDS + tail + unpinned * UNPINNED_WORDS;
}

static uint32_t at_of(const struct stack_cache *g, const struct stack_cache_record *r)
{
	return (uint32_t)((const uint64_t *)(const void *)r - g->arena);
}

/* What follows a record's blocks. */
static uint64_t *rest_of(const struct stack_cache_record *r)
{
	return (uint64_t *)(uintptr_t)&r->block[blocks_of(r->count)];
}

/* The objects that may be unloaded: an address in each, and its module. */
static uint64_t *unpinned_of(const struct stack_cache_record *r)
{
	return rest_of(r) + (r->hops != 0);
}

static void word_set(struct stack_cache_record *r, uint32_t i, uint64_t at, uint64_t value)
{
	struct stack_cache_block *b = &r->block[i / STACK_CACHE_BLOCK];

	b->at[i % STACK_CACHE_BLOCK] = (uint16_t)at;
	b->value[i % STACK_CACHE_BLOCK] = value;
}

/* A part of a record's words: those in the blocks of `record`, from one of them on. */
struct part {
	const struct stack_cache_record *record;
	uint32_t block; /* the first */
	uintptr_t frame; /* their places are relative to it */
};

/* The part that a record's last block leads to by this value. */
static struct part part_at(
	const struct stack_cache *g, const struct stack_cache_block *last, uint64_t tail)
{
	return (struct part){ stack_cache_at(g, tail >> 16), (uint32_t)(tail & UINT16_MAX),
		*(const uint64_t *)(const void *)(last + 1) };
}

/* The part that follows the blocks of a record with a tail. */
static struct part part_next(const struct stack_cache *g, const struct stack_cache_record *r)
{
	const struct stack_cache_block *last = &r->block[r->count / STACK_CACHE_BLOCK];

	return part_at(g, last, last->value[r->count % STACK_CACHE_BLOCK]);
}

/* Ends a record's blocks by a value that no word before it has. It is compared with the last of
 * these, which is there; the hook's frame that the places are relative to may be gone. */
static void end_set(struct stack_cache_record *r, uint64_t value)
{
	uint32_t last = r->count - 1u;
	uint64_t at = STACK_CACHE_END_AT;

	if (r->count != 0)
		at = r->block[last / STACK_CACHE_BLOCK].at[last % STACK_CACHE_BLOCK];
	word_set(r, r->count, at, value);
}

static void tail_set(struct stack_cache *g, struct stack_cache_record *r, const struct part *p)
{
	end_set(r, STACK_CACHE_TAIL | (uint64_t)at_of(g, p->record) << 16 | p->block);
	r->hops = (p->record->hops + 1) & HOPS_MASK;
	*rest_of(r) = p->frame;
}

/* ---- finding ---- */

static uint64_t child_key(
	const struct stack_cache *g, const struct stack_cache_record *parent, uint32_t word)
{
	/* The place is in bytes, and a multiple of a word's. */
	uint64_t at = (uint64_t)((const char *)parent - (const char *)g->arena);

	return KEY_CHILD | at << 13 | word;
}

/* Multiplies to 128 bits and folds: each bit of both depends on all. */
static uint64_t exit_hash(uint64_t key, uint64_t value)
{
	const struct wide h =
		wide_multiply(key ^ 0x9e3779b97f4a7c15ull, value ^ 0x9fb21c651e98df25ull);

	return (uint32_t)(h.low ^ h.high);
}

/* The slot of the record with this key and first word in the bucket of `hash`; NULL: none. */
static inline uint64_t *table_find(const struct stack_cache *g, uint64_t *table, uint64_t mask,
	uint64_t hash, uint64_t key, uint64_t first)
{
#pragma GCC unroll 4
	for (unsigned i = 0; i < BUCKET; i++) {
		uint64_t *slot = &table[(hash & mask) ^ i];
		const struct stack_cache_record *r = stack_cache_at(g, *slot);

		if (*slot >> 32 == hash && r->key == key && r->first == first)
			return slot;
	}
	return NULL;
}

/* The record that leaves `parent` at `word`, where the stack has `value`. */
static inline struct stack_cache_record *exit_find(const struct stack_cache *g,
	const struct stack_cache_record *parent, uint32_t word, uint64_t value)
{
	uint64_t key = child_key(g, parent, word), hash = exit_hash(key, value), *slot;
	struct stack_cache_record *r;

	if (parent->exit_at == word && parent->exit_tag == (uint16_t)hash) {
		r = stack_cache_at(g, parent->exit);
		if (r->first == value && r->key == key)
			return r;
	}
	slot = table_find(g, g->exits, g->exit_mask, hash, key, value);
	return slot ? stack_cache_at(g, *slot) : NULL;
}

static bool modules_equal(const struct stack_cache_record *r)
{
	const uint64_t *unpinned = unpinned_of(r);

	for (unsigned i = 0; i < r->unpinned; i++, unpinned += UNPINNED_WORDS) {
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

/* Ends a comparison: the rest of the stack is to be remembered there. NULL. */
static struct stack_cache_leaf *stop(
	struct stack_cache *g, uint64_t key, uint32_t guard, const uintptr_t *word)
{
	g->stop = (struct stack_cache_stop){ .known = true,
		.guard = guard,
		.key = key,
		.address = (uint64_t)(uintptr_t)word,
		.value = *word };
	return NULL;
}

/* Makes a record impossible to find. */
static void forget(struct stack_cache_record *r)
{
	r->key = KEY_NONE;
}

/* How far a record's words are those of the stack: to a place in one of its parts. */
struct reached {
	struct stack_cache_place place;
	const struct stack_cache_block *blocks; /* of that part */
	uintptr_t base; /* the part's places are relative to it */
	uint32_t before; /* of the record's words, the number of the one in blocks[0] */
};

static uint32_t word_reached(const struct reached *at)
{
	return at->before + at->place.in_block +
	       (uint32_t)(at->place.block - at->blocks) * STACK_CACHE_BLOCK;
}

static inline uint64_t value_at(struct stack_cache_place place)
{
	return place.block->value[place.in_block];
}

/* Goes on from the end of a part to the next one; `end`: where that one's words end. */
static inline struct reached tail_reached(
	const struct reached *at, const struct part *next, struct stack_cache_place end)
{
	return (struct reached){ end, next->record->block, next->frame,
		word_reached(at) - next->block * STACK_CACHE_BLOCK };
}

static inline struct stack_cache_place tail_compare(const struct part *next)
{
	return stack_cache_compare(next->frame, &next->record->block[next->block]);
}

/* Continues where a record differs from the stack, or ends. */
__attribute__((always_inline)) static inline struct stack_cache_leaf *leave(
	struct stack_cache *g, uintptr_t frame, struct stack_cache_record *r, struct reached at)
{
	uint32_t begin = 0; /* the number of the stack's words before the record's first */

	for (;;) {
		uint64_t value = value_at(at.place);
		uint32_t word = word_reached(&at);
		const uintptr_t *now =
			(const uintptr_t *)at.base + at.place.block->at[at.place.in_block];
		struct stack_cache_record *child;

		if (value == STACK_CACHE_END)
			break;
		if (value >= STACK_CACHE_TAIL) {
			struct part next = part_at(g, at.place.block, value);

			at = tail_reached(&at, &next, tail_compare(&next));
			continue;
		}
		if (__builtin_expect(g->blind, 0))
			return NULL;
		g->use.exits++;
		child = exit_find(g, r, word, *now);
		begin += word;
		if (!child)
			return stop(g, child_key(g, r, word), begin, now);
		if (!stack_cache_holds(child)) {
			uint64_t key = child->key;

			forget(child);
			return stop(g, key, begin, now);
		}
		begin++;
		r = child;
		at = (struct reached){ stack_cache_compare(frame, r->block), r->block, frame, 0 };
	}
	g->use.found++;
	return &r->leaf;
}

static __attribute__((noinline)) struct stack_cache_leaf *record_leave(struct stack_cache *g,
	uintptr_t frame, struct stack_cache_record *r, struct stack_cache_place place)
{
	return leave(g, frame, r, (struct reached){ place, r->block, frame, 0 });
}

/* Leaves a record in its tail, which begins after `last`, at `place`. */
static __attribute__((noinline)) struct stack_cache_leaf *tail_leave(struct stack_cache *g,
	uintptr_t frame, struct stack_cache_record *r, struct stack_cache_place last,
	struct stack_cache_place place)
{
	struct part next = part_at(g, last.block, value_at(last));
	struct reached at = { last, r->block, frame, 0 };

	return leave(g, frame, r, tail_reached(&at, &next, place));
}

/* Mostly the rest of the stack is there. */
static __attribute__((noinline)) struct stack_cache_leaf *tail_follow(struct stack_cache *g,
	uintptr_t frame, struct stack_cache_record *r, struct stack_cache_place last)
{
	struct part next = part_at(g, last.block, value_at(last));
	struct stack_cache_place place = tail_compare(&next);

	if (!stack_cache_is_end(place))
		return tail_leave(g, frame, r, last, place);
	g->use.found++;
	return &r->leaf;
}

struct stack_cache_leaf *stack_cache_branch(struct stack_cache *g, uintptr_t frame,
	struct stack_cache_record *r, struct stack_cache_place place)
{
	g->use.searches++;
	return value_at(place) > STACK_CACHE_END ? tail_follow(g, frame, r, place)
						 : record_leave(g, frame, r, place);
}

struct stack_cache_leaf *stack_cache_lose(
	struct stack_cache *g, uintptr_t frame, struct stack_cache_record *r)
{
	uint64_t key = r->key;

	forget(r);
	return stop(g, key, 0, (const uintptr_t *)frame + 1);
}

struct stack_cache_leaf *stack_cache_search(
	struct stack_cache *g, uintptr_t frame, uint32_t function)
{
	uint64_t key = stack_cache_key(frame, function), first = ((const uintptr_t *)frame)[1];
	uint64_t hash = stack_cache_root_hash(frame, first);
	uint64_t *home = &g->roots[hash & g->root_mask], was = *home;
	uint64_t *slot = table_find(g, g->roots, g->root_mask, hash, key, first);
	struct stack_cache_record *r;

	if (!slot)
		return stop(g, key, 0, (const uintptr_t *)frame + 1);
	r = stack_cache_at(g, *slot);
	*home = *slot;
	*slot = was;
	if (!stack_cache_holds(r))
		return stack_cache_lose(g, frame, r);
	return stack_cache_branch(g, frame, r, stack_cache_compare(frame, r->block));
}

/* ---- remembering ---- */

/* Enters a record into a table: in a free slot of its bucket, or that of a forgotten one with its
 * hash, or else in place of the first. */
static void enter(const struct stack_cache *g, uint64_t *table, uint64_t mask, uint64_t hash,
	const struct stack_cache_record *r)
{
	uint64_t index = hash & mask, to = index;

	for (unsigned i = 0; i < BUCKET; i++) {
		uint64_t slot = table[index ^ i];

		if (slot == 0 || (slot >> 32 == hash && stack_cache_at(g, slot)->key == KEY_NONE)) {
			to = index ^ i;
			break;
		}
	}
	table[to] = hash << 32 | at_of(g, r);
}

static void exit_enter(struct stack_cache *g, const struct stack_cache_record *r)
{
	struct stack_cache_record *parent = stack_cache_at(g, r->key >> 16);
	uint64_t hash = exit_hash(r->key, r->first);

	if (parent->exit == 0) {
		parent->exit_at = (uint16_t)r->key;
		parent->exit_tag = (uint16_t)hash;
		parent->exit = at_of(g, r);
		return;
	}
	enter(g, g->exits, g->exit_mask, hash, r);
}

static void record_enter(struct stack_cache *g, const struct stack_cache_record *r)
{
	if (r->key & KEY_CHILD)
		exit_enter(g, r);
	else
		enter(g, g->roots, g->root_mask,
			stack_cache_root_hash(r->key & STACK_CACHE_VALUE_MASK, r->first), r);
}

static bool unpinned_has(const struct stack_cache_record *r, uint32_t module)
{
	const uint64_t *unpinned = unpinned_of(r);

	for (unsigned i = 0; i < r->unpinned; i++)
		if (unpinned[i * UNPINNED_WORDS + 1] == module)
			return true;
	return false;
}

/* Lists one frame in each unloadable object. False: there are too many. Code outside any object is
 * a module of its own at each address, and nothing tells us what is later mapped there. */
static bool unpinned_fill(struct stack_cache_record *r, const struct unwind *u)
{
	uint64_t *out = unpinned_of(r);

	r->leaf.proved = STACK_CACHE_PINNED;
	if (!u->unpinned)
		return true;
	r->leaf.proved = u->generation > MODULES_NEVER ? u->generation : STACK_CACHE_UNPROVED;
	for (uint32_t i = 0; i < u->count; i++) {
		bool outside = u->modules[i] == HT_NODE_UNPINNED;

		if (!(u->modules[i] & HT_NODE_UNPINNED) ||
			(!outside && unpinned_has(r, u->modules[i])))
			continue;
		if (r->unpinned == UNPINNED_MAX)
			return false;
		*out++ = u->pcs[i];
		*out++ = u->modules[i];
		r->unpinned = (r->unpinned + 1u) & UNPINNED_MASK;
		if (outside)
			r->leaf.proved = STACK_CACHE_UNPROVED;
	}
	return true;
}

/* The part of the previous stack's record with the words that a stack ends in, of which it shares
 * `*shared`; sets that to the number in the part and those after it. False: there is none. */
static bool tail_find(const struct stack_cache *g, struct part *part, uint32_t *shared)
{
	const struct stack_cache_record *r = stack_cache_at(g, g->previous.record);
	uint32_t word;

	if (g->previous.record == 0 || g->words < TAIL_ARENA_WORDS)
		return false;
	if (*shared > r->total)
		*shared = r->total;
	word = r->total - *shared; /* of the part's; its words are followed to the last */
	for (*part = (struct part){ r, 0, g->previous.frame }; *shared >= TAIL_LEAST;) {
		uint32_t whole = (word + STACK_CACHE_BLOCK - 1) & ~(STACK_CACHE_BLOCK - 1);

		r = part->record;
		if (whole < r->count && r->hops < TAIL_HOPS) {
			part->block = whole / STACK_CACHE_BLOCK;
			*shared -= whole - word;
			return *shared >= TAIL_LEAST;
		}
		if (r->hops == 0)
			return false;
		if (word < r->count) {
			*shared -= r->count - word;
			word = r->count;
		}
		*part = part_next(g, r);
		word = word - r->count + part->block * STACK_CACHE_BLOCK;
	}
	return false;
}

/* Writes the record of a stack's words from `from` on; a child's first word is not among its
 * blocks. NULL: it cannot be remembered. */
static struct stack_cache_record *record_new(
	struct stack_cache *g, const struct unwind *u, uint32_t from, uint64_t key, uint32_t site)
{
	struct stack_cache_record *r = stack_cache_at(g, (uint32_t)g->used);
	uint64_t first = unwind_guard(u, from) & STACK_CACHE_VALUE_MASK;
	uint32_t shared;
	struct part part;
	bool tail;

	from += (key & KEY_CHILD) != 0;
	shared = u->guard_count - from;
	if (shared > u->shared)
		shared = u->shared;
	tail = tail_find(g, &part, &shared);
	*r = (struct stack_cache_record){ .key = key,
		.first = first,
		.leaf = { .site = site },
		.exit_at = NO_WORD,
		.count = (u->guard_count - from - (tail ? shared : 0)) & COUNT_MAX,
		.total = (u->guard_count - from) & COUNT_MAX };
	for (uint32_t i = 0; i < r->count; i++) {
		uint64_t guard = unwind_guard(u, from + i);

		word_set(r, i, guard >> STACK_CACHE_VALUE_BITS, guard & STACK_CACHE_VALUE_MASK);
	}
	if (tail)
		tail_set(g, r, &part);
	else
		end_set(r, STACK_CACHE_END);
	if (!unpinned_fill(r, u))
		return NULL;
	/* Complete before it counts, and counted before it can be found, wherever a handler leaves.
	 */
	ht_fence_handler();
	g->used += record_words(r->count, tail, r->unpinned);
	ht_fence_handler();
	record_enter(g, r);
	return r;
}

/* Whether the stack's words lead where the comparison ended. Which word comes next depends on the
 * words before, as long as the code is the same. */
static bool leads_to(const struct unwind *u, const struct stack_cache_stop *stop)
{
	return stop->guard < u->guard_count &&
	       unwind_guard(u, stop->guard) ==
		       ((stop->address - u->frame) / CFI_RULE_WORD << STACK_CACHE_VALUE_BITS |
			       stop->value);
}

/* Adds what is new in a stack where the comparison ended. */
static struct stack_cache_record *remember(
	struct stack_cache *g, const struct unwind *u, uint64_t root, uint32_t site)
{
	struct stack_cache_stop at = g->stop;

	if (at.known && leads_to(u, &at))
		return record_new(g, u, at.key == root ? 0 : at.guard, at.key, site);
	if (at.known)
		stack_memory_forget_all(g); /* code was replaced unnoticed */
	return record_new(g, u, 0, root, site);
}

void stack_cache_unwinding(struct stack_cache *g)
{
	g->previous = g->last;
	/* In this order: a handler may abandon the unwinder, and then nothing is shared with the
	 * stack before. */
	ht_fence_handler();
	g->last.record = 0;
}

static struct stack_cache_record *record_of(struct stack_cache_leaf *leaf)
{
	return (void *)((char *)leaf - offsetof(struct stack_cache_record, leaf));
}

void stack_cache_unwound(
	struct stack_cache *g, const struct unwind *u, struct stack_cache_leaf *leaf)
{
	if (leaf != &g->spare)
		g->last = (struct stack_cache_last){ at_of(g, record_of(leaf)), u->frame };
}

struct stack_cache_leaf *stack_cache_keep(
	struct stack_cache *g, const struct unwind *u, uint32_t function, uint32_t site, bool again)
{
	struct stack_cache_record *r = NULL;

	if (again)
		g->use.again++;
	else
		g->use.news++;
	g->use.frames += u->count - u->kept;
	if (!stack_memory_stays(g) && u->repeatable && u->guard_count != 0 &&
		u->guard_count <= COUNT_MAX && site != 0 &&
		stack_memory_room(g, record_words(u->guard_count, true, UNPINNED_MAX)))
		r = remember(g, u, stack_cache_key(u->frame, function), site);
	g->stop.known = false;
	if (!r) {
		g->spare = (struct stack_cache_leaf){ .site = site };
		return &g->spare;
	}
	stack_cache_unwound(g, u, &r->leaf);
	return &r->leaf;
}
