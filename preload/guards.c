/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks (guards.h). In hooks, on the thread that owns the slot.
 *
 * A record is a run of expected words that ends in a site. A root record begins at a hook's frame,
 * and is found by that frame and its return address. At a word that differs, `exits` tells the
 * record that goes on from there with the word seen, which has its own site at its own end. Both
 * tables are direct-mapped: what is overwritten is forgotten and unwound again. When the memory for
 * records is used up, all is forgotten.
 */
#include "preload/guards.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/modules.h"
#include "preload/state.h"

#define ROOTS_LOG2   12u
#define EXITS_LOG2   14u
#define ARENA_WORDS  (1u << 19) /* 4 MB a thread, touched as needed: some ten thousand stacks */
#define UNPINNED_MAX 2u /* pieces of unloadable code in a stack; with more it is not remembered */

#define VALUE_BITS 48u
#define VALUE_MASK ((1ull << VALUE_BITS) - 1)
#define KEY_CHILD  (1ull << 63)

struct record {
	uint64_t key; /* root: frame and function; child: where it leaves its parent */
	uint32_t site;
	uint16_t count; /* words */
	uint16_t unpinned_count;
	uint64_t unpinned_pc[UNPINNED_MAX]; /* frames in code that may be unloaded, */
	uint32_t unpinned_module[UNPINNED_MAX]; /* and the modules they were in */
	uint64_t words[]; /* as in struct unwind's guards */
};

struct guards {
	uint32_t roots[1u << ROOTS_LOG2]; /* where a record is in the arena; 0: none */
	uint32_t exits[1u << EXITS_LOG2];
	uint32_t used;
	uint64_t arena[ARENA_WORDS];
};

static uint64_t hash_of(uint64_t a, uint64_t b, unsigned bits)
{
	a = (a ^ b << 23 ^ b >> 19) * 0x9e3779b97f4a7c15ull;
	return (a ^ a >> 32) * 0x9fb21c651e98df25ull >> (64 - bits);
}

static uint64_t root_key(uintptr_t frame, uint32_t function)
{
	return frame | (uint64_t)function << VALUE_BITS;
}

static uint64_t child_key(uint32_t parent, unsigned word)
{
	return KEY_CHILD | (uint64_t)parent << 16 | word;
}

static uint32_t *root_slot(struct guards *t, uint64_t key, uint64_t first)
{
	return &t->roots[hash_of(key, first, ROOTS_LOG2)];
}

static uint32_t *exit_slot(struct guards *t, uint64_t key, uint64_t word)
{
	return &t->exits[hash_of(key, word, EXITS_LOG2)];
}

/* The record at `at` if it has this key and begins with this word. */
static struct record *record_at(struct guards *t, uint32_t at, uint64_t key, uint64_t first)
{
	struct record *r = (struct record *)(void *)&t->arena[at];

	return at != 0 && r->key == key && r->words[0] == first ? r : NULL;
}

/* The word on the stack that a guard speaks of, in a guard's form; 0 if it has no such form. */
static uint64_t guard_now(uintptr_t frame, uint64_t guard)
{
	uint64_t distance = guard >> VALUE_BITS;
	uint64_t value = *(const uint64_t *)(frame + distance * sizeof(uint64_t));

	return value > VALUE_MASK ? 0 : distance << VALUE_BITS | value;
}

static bool modules_equal(const struct record *r)
{
	for (unsigned i = 0; i < r->unpinned_count; i++) {
		struct module_range range;

		modules_find(r->unpinned_pc[i], &range);
		if (range.module != r->unpinned_module[i])
			return false;
	}
	return true;
}

uint32_t guards_find(struct guards *t, uintptr_t frame, uint32_t function)
{
	uint64_t key = root_key(frame, function), first;
	const struct record *r;
	uint32_t at;

	first = guard_now(frame, 1ull << VALUE_BITS);
	at = *root_slot(t, key, first);
	r = record_at(t, at, key, first);
	for (unsigned i = 1; r && i < r->count; i++) {
		uint64_t now = guard_now(frame, r->words[i]);

		if (__builtin_expect(now == r->words[i], 1))
			continue;
		key = child_key(at, i);
		at = *exit_slot(t, key, now);
		r = record_at(t, at, key, now);
		i = 0; /* its first word is this one */
	}
	return r && modules_equal(r) ? r->site : 0;
}

struct guards *guards_new(void)
{
	struct guards *g = mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (g == MAP_FAILED)
		return NULL;
	g->used = 1; /* 0 is no record */
	return g;
}

void guards_free(struct guards *g)
{
	munmap(g, sizeof(*g));
}

static void forget_all(struct guards *t)
{
	memset(t->roots, 0, sizeof(t->roots));
	memset(t->exits, 0, sizeof(t->exits));
	t->used = 1;
}

/* Notes one frame of each run of unloadable code. False: too many of them. */
static bool unpinned_fill(struct record *r, const struct unwind *u)
{
	uint32_t last = 0;

	r->unpinned_count = 0;
	for (uint32_t i = 0; i < u->count; i++) {
		/* Code outside any object is a module of its own at each address. */
		bool seen = u->modules[i] == last && (last & ~HT_NODE_UNPINNED) != 0;

		if (!(u->modules[i] & HT_NODE_UNPINNED) || seen)
			continue;
		if (r->unpinned_count == UNPINNED_MAX)
			return false;
		last = u->modules[i];
		r->unpinned_pc[r->unpinned_count] = u->pcs[i];
		r->unpinned_module[r->unpinned_count++] = last;
	}
	return true;
}

/* Writes the record of a stack's words from `from` on. 0: it cannot be remembered. */
static uint32_t record_new(
	struct guards *t, const struct unwind *u, uint32_t from, uint64_t key, uint32_t site)
{
	uint32_t count = u->guard_count - from, at = t->used;
	uint32_t room = (uint32_t)(sizeof(struct record) / sizeof(uint64_t)) + count;
	struct record *r = (struct record *)(void *)&t->arena[at];

	if (at + room > ARENA_WORDS) {
		forget_all(t);
		return 0;
	}
	if (!unpinned_fill(r, u))
		return 0;
	r->key = key;
	r->site = site;
	r->count = (uint16_t)count;
	memcpy(r->words, &u->guards[from], count * sizeof(uint64_t));
	t->used += room;
	return at;
}

/*
 * Follows the stack's words to where memory ends, and adds the rest there. `from`: how many of the
 * words the records before the current one account for.
 */
static void remember(struct guards *t, const struct unwind *u, uint64_t key, uint32_t site)
{
	uint32_t *slot = root_slot(t, key, u->guards[0]), from = 0;
	struct record *r;

	while ((r = record_at(t, *slot, key, u->guards[from])) != NULL) {
		uint32_t i = 1;

		while (i < r->count && from + i < u->guard_count &&
			r->words[i] == u->guards[from + i])
			i++;
		if (i == r->count || from + i == u->guard_count) {
			/* All there, and yet not found: code was replaced under it. */
			forget_all(t);
			return;
		}
		key = child_key(*slot, i);
		from += i;
		slot = exit_slot(t, key, u->guards[from]);
	}
	*slot = record_new(t, u, from, key, site);
}

void guards_keep(struct guards *g, const struct unwind *u, uint32_t function, uint32_t site)
{
	if (u->repeatable && u->guard_count != 0 && site != 0)
		remember(g, u, root_key(u->frame, function), site);
}
