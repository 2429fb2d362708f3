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
#ifndef PRELOAD_STACK_CACHE_H
#define PRELOAD_STACK_CACHE_H

#include <stddef.h>

#include "preload/modules.h"
#include "preload/unwind_types.h"

/* A remembered stack. Valid until the thread's next stack_cache_keep. */
struct stack_cache_leaf {
	uint32_t site;
	uint32_t counter; /* the site's, as the recorder last found it (counter.h); 0 at first */
	uint32_t proved; /* when its code was last checked: STACK_CACHE_PINNED, a generation of
			    modules.h, or STACK_CACHE_UNPROVED */
	uint8_t unpinned; /* objects in it that may be unloaded, listed after the words */
};

/* Expected words, and the place of each on the stack, in words from the hook's frame: 16 bits each.
 * In groups of four, so that comparing one takes five instructions and two loads. */
#define STACK_CACHE_BLOCK 4u
struct stack_cache_block {
	uint64_t at;
	uint64_t value[STACK_CACHE_BLOCK];
};
#define STACK_CACHE_AT_BITS 16u

/* A run of expected words, ended by one of value STACK_CACHE_END. */
struct stack_cache_record {
	uint64_t key; /* root: frame and function; child: parent and the word at which it leaves the
			 parent */
	uint64_t first; /* and the word found there, in the form of struct unwind's guards */
	struct stack_cache_leaf leaf;
	uint32_t exit; /* the first record that leaves this one, 0: none */
	uint16_t exit_at; /* the word at which that one leaves */
	uint16_t count; /* words, the end not counted */
	struct stack_cache_block block[]; /* followed by the unloadable objects */
};

/* One thread's memory of stacks; zero at first. Only that thread reads and writes it. */
struct stack_cache {
	uint32_t *roots; /* places of records in the arena, in words */
	uint32_t *exits;
	uint64_t *arena;
	uint64_t mask; /* of indices into roots and into exits */
	uint64_t words; /* of the arena */
	uint64_t used; /* words in use */
	struct stack_cache_leaf spare; /* for a stack that cannot be remembered */
};

#define STACK_CACHE_PINNED   UINT32_MAX /* all its code is in objects that stay */
#define STACK_CACHE_UNPROVED 0u /* must be checked each time: no generation */
/* Words that can be remembered have this many bits; in struct unwind's guards the place is above.
 */
#define STACK_CACHE_VALUE_BITS 48u
#define STACK_CACHE_VALUE_MASK ((1ull << STACK_CACHE_VALUE_BITS) - 1)
/* Ends a record, as the value of the hook's return address, which no stack has there. */
#define STACK_CACHE_END	   (1ull << 63)
#define STACK_CACHE_END_AT 1u

/* False: no memory. */
bool stack_cache_start(struct stack_cache *g);
void stack_cache_end(struct stack_cache *g);
/* Remembers the site of a stack just unwound, if possible, and returns its leaf in either case.
 * Does not remember site 0. */
struct stack_cache_leaf *stack_cache_keep(
	struct stack_cache *g, const struct unwind *u, uint32_t function, uint32_t site);

/* One of a record's values. */
struct stack_cache_place {
	const struct stack_cache_block *block;
	unsigned in_block;
};

/* Out of line: continues where the record `r` differs from the stack. */
struct stack_cache_leaf *stack_cache_branch(struct stack_cache *g, uintptr_t frame,
	struct stack_cache_record *r, struct stack_cache_place place);
/* Out of line: checks where the code of a record's stack is. False: it has moved or gone. */
bool stack_cache_prove(struct stack_cache_record *r);
/* Out of line: searches the rest of the root's bucket. */
struct stack_cache_leaf *stack_cache_search(
	struct stack_cache *g, uintptr_t frame, uint32_t function);

HT_HOT uint64_t stack_cache_key(uintptr_t frame, uint32_t function)
{
	return frame | (uint64_t)function << STACK_CACHE_VALUE_BITS;
}

/* Index of the root of the stacks at a frame with this return address. */
HT_HOT uint64_t stack_cache_root_index(const struct stack_cache *g, uintptr_t frame, uint64_t first)
{
	return (frame ^ first << 16) * 0x9e3779b97f4a7c15ull >> 44 & g->mask;
}

HT_HOT struct stack_cache_record *stack_cache_at(const struct stack_cache *g, uint32_t at)
{
	return (struct stack_cache_record *)(void *)(g->arena + at);
}

/* The root of the stacks at `frame`, if there is one. */
HT_HOT struct stack_cache_record *stack_cache_root(const struct stack_cache *g, uintptr_t frame)
{
	uint64_t first = *(const uint64_t *)(frame + 8);

	return stack_cache_at(g, g->roots[stack_cache_root_index(g, frame, first)]);
}

HT_HOT bool stack_cache_differ(uintptr_t frame, uint64_t at, uint64_t value)
{
	return __builtin_expect(((const uint64_t *)frame)[at] != value, 0);
}

/* The first of these values that differs from the stack. */
HT_HOT struct stack_cache_place stack_cache_compare(
	uintptr_t frame, const struct stack_cache_block *b)
{
	const uint64_t mask = (1u << STACK_CACHE_AT_BITS) - 1;

	for (;; b++) {
		uint64_t at = b->at;

		if (stack_cache_differ(frame, at & mask, b->value[0]))
			return (struct stack_cache_place){ b, 0 };
		if (stack_cache_differ(frame, at >> STACK_CACHE_AT_BITS & mask, b->value[1]))
			return (struct stack_cache_place){ b, 1 };
		if (stack_cache_differ(frame, at >> 2 * STACK_CACHE_AT_BITS & mask, b->value[2]))
			return (struct stack_cache_place){ b, 2 };
		if (stack_cache_differ(frame, at >> 3 * STACK_CACHE_AT_BITS, b->value[3]))
			return (struct stack_cache_place){ b, 3 };
	}
}

/* Whether this is the record's end: all its words are there. */
HT_HOT bool stack_cache_is_end(struct stack_cache_place place)
{
	__asm__("" : "+r"(place.block)); /* load it again instead of keeping copies */
	return __builtin_expect(place.block->value[place.in_block] == STACK_CACHE_END, 1);
}

/* Whether the code of a record's stack is where it was. Called before its words are compared: they
 * are where that code left them. */
HT_HOT bool stack_cache_holds(struct stack_cache_record *r)
{
	return __builtin_expect(r->leaf.proved == STACK_CACHE_PINNED, 1) ||
	       r->leaf.proved == modules_generation() || stack_cache_prove(r);
}

/* The leaf of the stack at `frame`, or NULL. `r`: stack_cache_root's result, best taken some thirty
 * instructions before: the comparison waits for it. */
HT_HOT struct stack_cache_leaf *stack_cache_find(
	struct stack_cache *g, struct stack_cache_record *r, uintptr_t frame, uint32_t function)
{
	struct stack_cache_place place;

	if (__builtin_expect(r->key != stack_cache_key(frame, function), 0))
		return stack_cache_search(g, frame, function);
	if (!stack_cache_holds(r))
		return NULL;
	place = stack_cache_compare(frame, r->block);
	return stack_cache_is_end(place) ? &r->leaf : stack_cache_branch(g, frame, r, place);
}

#endif
