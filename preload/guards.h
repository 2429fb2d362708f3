/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks. Unwinding is a function of a few words of the stack. The words that a stack
 * was computed from are kept with its site. When all of them are there again, compared one by one,
 * innermost first, the site is the answer without unwinding. That is a proof, not a guess: by
 * induction each step starts from the same state, takes the same rule, and reads the same word.
 *
 * The comparison reads only what an unwinder would read: a word's address is known to be right once
 * all the words before it have compared equal, so the remembered stack of a coroutine or thread
 * that is gone leads nowhere. Where code may be unloaded and replaced, the objects are looked up
 * again if anything was unloaded since (modules.h).
 *
 * Stacks with a common beginning share its words: the memory is a tree, in which a word that
 * differs leads on to the stacks that have the other word there.
 *
 * In hooks, on the thread that owns the memory, with the re-entry guard held.
 */
#ifndef PRELOAD_GUARDS_H
#define PRELOAD_GUARDS_H

#include <stddef.h>

#include "preload/modules.h"
#include "preload/unwind_types.h"

/* A remembered stack. Valid until the thread's next guards_keep. */
struct guards_leaf {
	uint32_t site;
	uint32_t counter; /* the site's, as the recorder last found it (counter.h); 0 at first */
	uint32_t proved; /* when its code was last checked: GUARDS_PINNED, a generation of
			    modules.h, or GUARDS_UNPROVED */
	uint8_t unpinned; /* objects in it that may be unloaded, listed after the words */
};

/* Expected words, and the place of each on the stack, in words from the hook's frame: 16 bits each.
 * In groups of four, so that comparing one takes five instructions and two loads. */
#define GUARDS_BLOCK 4u
struct guards_block {
	uint64_t at;
	uint64_t value[GUARDS_BLOCK];
};
#define GUARDS_AT_BITS 16u

/* A run of expected words, ended by one of value GUARDS_END. */
struct guards_record {
	uint64_t key; /* root: frame and function; child: parent and the word at which it leaves the
			 parent */
	uint64_t first; /* and the word found there, in the form of struct unwind's guards */
	struct guards_leaf leaf;
	uint32_t exit; /* the first record that leaves this one, 0: none */
	uint16_t exit_at; /* the word at which that one leaves */
	uint16_t count; /* words, the end not counted */
	struct guards_block block[]; /* followed by the unloadable objects */
};

/* One thread's memory of stacks; zero at first. Only that thread reads and writes it. */
struct guards {
	uint32_t *roots; /* places of records in the arena, in words */
	uint32_t *exits;
	uint64_t *arena;
	uint64_t mask; /* of indices into roots and into exits */
	uint64_t words; /* of the arena */
	uint64_t used; /* words in use */
	struct guards_leaf spare; /* for a stack that cannot be remembered */
};

#define GUARDS_PINNED	UINT32_MAX /* all its code is in objects that stay */
#define GUARDS_UNPROVED 0u /* must be checked each time: no generation */
/* Words that can be remembered have this many bits; in struct unwind's guards the place is above.
 */
#define GUARDS_VALUE_BITS 48u
#define GUARDS_VALUE_MASK ((1ull << GUARDS_VALUE_BITS) - 1)
/* Ends a record, as the value of the hook's return address, which no stack has there. */
#define GUARDS_END    (1ull << 63)
#define GUARDS_END_AT 1u

/* False: no memory. */
bool guards_start(struct guards *g);
void guards_end(struct guards *g);
/* Remembers the site of a stack just unwound, if possible, and returns its leaf in either case.
 * Does not remember site 0. */
struct guards_leaf *guards_keep(
	struct guards *g, const struct unwind *u, uint32_t function, uint32_t site);

/* One of a record's values. */
struct guards_place {
	const struct guards_block *block;
	unsigned in_block;
};

/* Out of line: continues where the record `r` differs from the stack. */
struct guards_leaf *guards_branch(
	struct guards *g, uintptr_t frame, struct guards_record *r, struct guards_place place);
/* Out of line: checks where the code of a record's stack is. False: it has moved or gone. */
bool guards_prove(struct guards_record *r);
/* Out of line: searches the rest of the root's bucket. */
struct guards_leaf *guards_search(struct guards *g, uintptr_t frame, uint32_t function);

HT_HOT uint64_t guards_key(uintptr_t frame, uint32_t function)
{
	return frame | (uint64_t)function << GUARDS_VALUE_BITS;
}

/* Index of the root of the stacks at a frame with this return address. */
HT_HOT uint64_t guards_root_index(const struct guards *g, uintptr_t frame, uint64_t first)
{
	return (frame ^ first << 16) * 0x9e3779b97f4a7c15ull >> 44 & g->mask;
}

HT_HOT struct guards_record *guards_at(const struct guards *g, uint32_t at)
{
	return (struct guards_record *)(void *)(g->arena + at);
}

/* The root of the stacks at `frame`, if there is one. */
HT_HOT struct guards_record *guards_root(const struct guards *g, uintptr_t frame)
{
	uint64_t first = *(const uint64_t *)(frame + 8);

	return guards_at(g, g->roots[guards_root_index(g, frame, first)]);
}

HT_HOT bool guards_differ(uintptr_t frame, uint64_t at, uint64_t value)
{
	return __builtin_expect(((const uint64_t *)frame)[at] != value, 0);
}

/* The first of these values that differs from the stack. */
HT_HOT struct guards_place guards_compare(uintptr_t frame, const struct guards_block *b)
{
	const uint64_t mask = (1u << GUARDS_AT_BITS) - 1;

	for (;; b++) {
		uint64_t at = b->at;

		if (guards_differ(frame, at & mask, b->value[0]))
			return (struct guards_place){ b, 0 };
		if (guards_differ(frame, at >> GUARDS_AT_BITS & mask, b->value[1]))
			return (struct guards_place){ b, 1 };
		if (guards_differ(frame, at >> 2 * GUARDS_AT_BITS & mask, b->value[2]))
			return (struct guards_place){ b, 2 };
		if (guards_differ(frame, at >> 3 * GUARDS_AT_BITS, b->value[3]))
			return (struct guards_place){ b, 3 };
	}
}

/* Whether this is the record's end: all its words are there. */
HT_HOT bool guards_is_end(struct guards_place place)
{
	__asm__("" : "+r"(place.block)); /* load it again instead of keeping copies */
	return __builtin_expect(place.block->value[place.in_block] == GUARDS_END, 1);
}

/* Whether the code of a record's stack is where it was. Called before its words are compared: they
 * are where that code left them. */
HT_HOT bool guards_holds(struct guards_record *r)
{
	return __builtin_expect(r->leaf.proved == GUARDS_PINNED, 1) ||
	       r->leaf.proved == modules_generation() || guards_prove(r);
}

/* The leaf of the stack at `frame`, or NULL. `r`: guards_root's result, best taken some thirty
 * instructions before: the comparison waits for it. */
HT_HOT struct guards_leaf *guards_find(
	struct guards *g, struct guards_record *r, uintptr_t frame, uint32_t function)
{
	struct guards_place place;

	if (__builtin_expect(r->key != guards_key(frame, function), 0))
		return guards_search(g, frame, function);
	if (!guards_holds(r))
		return NULL;
	place = guards_compare(frame, r->block);
	return guards_is_end(place) ? &r->leaf : guards_branch(g, frame, r, place);
}

#endif
