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

#include "preload/arch/cfi_rule.h"
#include "preload/modules.h"
#include "preload/stack_memory.h"
#include "preload/unwind_types.h"

#define STACK_CACHE_PINNED   UINT32_MAX /* all its code is in objects that stay */
#define STACK_CACHE_UNPROVED 0u /* must be checked each time: no generation */
/* Words that can be remembered have this many bits; in unwind_guard's form the place is above. */
#define STACK_CACHE_VALUE_BITS 48u
#define STACK_CACHE_VALUE_MASK ((1ull << STACK_CACHE_VALUE_BITS) - 1)
/* Ends a record: no word that can be remembered has this value. In a tail the record and the block
 * that follow are below. */
#define STACK_CACHE_END	   (1ull << 63)
#define STACK_CACHE_TAIL   (STACK_CACHE_END | 1ull << 62)
#define STACK_CACHE_END_AT 1u /* of a record without words: the hook's return address */

/* Before the stack is unwound: what is remembered of the last one becomes the previous one. */
void stack_cache_unwinding(struct stack_cache *g);
/* Remembers the site of a stack just unwound, if possible, and returns its leaf in either case.
 * Does not remember site 0. `again`: the site is not new. */
struct stack_cache_leaf *stack_cache_keep(struct stack_cache *g, const struct unwind *u,
	uint32_t function, uint32_t site, bool again);
/* A stack just unwound has been found before. */
void stack_cache_unwound(
	struct stack_cache *g, const struct unwind *u, struct stack_cache_leaf *leaf);

/* The stack just unwound may be remembered by its inner words only: no record is to share them. */
static inline void stack_cache_apart(struct stack_cache *g)
{
	g->last.record = 0;
}

/* One of a record's values. */
struct stack_cache_place {
	const struct stack_cache_block *block;
	unsigned in_block;
};

/* Out of line: continues where the record `r` differs from the stack, or ends in a tail. */
struct stack_cache_leaf *stack_cache_branch(struct stack_cache *g, uintptr_t frame,
	struct stack_cache_record *r, struct stack_cache_place place);
/* Out of line: checks where the code of a record's stack is. False: it has moved or gone. */
bool stack_cache_prove(struct stack_cache_record *r);
/* Out of line: searches the rest of the root's bucket. */
struct stack_cache_leaf *stack_cache_search(
	struct stack_cache *g, uintptr_t frame, uint32_t function);
/* Out of line: forgets a root record whose code has moved or gone. NULL. */
struct stack_cache_leaf *stack_cache_lose(
	struct stack_cache *g, uintptr_t frame, struct stack_cache_record *r);

HT_HOT uint64_t stack_cache_key(uintptr_t frame, uint32_t function)
{
	return frame | (uint64_t)function << STACK_CACHE_VALUE_BITS;
}

/* The hash of the roots of the stacks at a frame with this return address. An index into a table is
 * its lowest bits. */
HT_HOT uint64_t stack_cache_root_hash(uintptr_t frame, uint64_t first)
{
	return (frame ^ first << 16) * 0x9e3779b97f4a7c15ull >> 32;
}

/* A record by its place; the upper half of `at` is ignored. */
HT_HOT struct stack_cache_record *stack_cache_at(const struct stack_cache *g, uint64_t at)
{
	return (struct stack_cache_record *)(void *)(g->arena + (uint32_t)at);
}

/* The root of the stacks at `frame`, if there is one. */
HT_HOT struct stack_cache_record *stack_cache_root(const struct stack_cache *g, uintptr_t frame)
{
	uint64_t first = ((const uintptr_t *)frame)[1];

	return stack_cache_at(g, g->roots[stack_cache_root_hash(frame, first) & g->root_mask]);
}

HT_HOT bool stack_cache_differ(uintptr_t frame, uint64_t at, uint64_t value)
{
	return __builtin_expect(cfi_rule_plain(((const uintptr_t *)frame)[at]) != value, 0);
}

/* The first of these values that differs from the stack. */
HT_HOT struct stack_cache_place stack_cache_compare(
	uintptr_t frame, const struct stack_cache_block *b)
{
	for (;; b++) {
		if (stack_cache_differ(frame, b->at[0], b->value[0]))
			return (struct stack_cache_place){ b, 0 };
		if (stack_cache_differ(frame, b->at[1], b->value[1]))
			return (struct stack_cache_place){ b, 1 };
		if (stack_cache_differ(frame, b->at[2], b->value[2]))
			return (struct stack_cache_place){ b, 2 };
		if (stack_cache_differ(frame, b->at[3], b->value[3]))
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
		return stack_cache_lose(g, frame, r);
	place = stack_cache_compare(frame, r->block);
	return stack_cache_is_end(place) ? &r->leaf : stack_cache_branch(g, frame, r, place);
}

#endif
