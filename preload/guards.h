/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks. Unwinding is a function of a handful of words of the stack: those a stack was
 * computed from are kept with its site, and when all of them are there again, compared one by one,
 * innermost first, the site is the answer without unwinding. That is a proof, not a guess: by
 * induction each step starts from the same state, takes the same rule, and reads the same word.
 *
 * And it reads only what an unwinder would read: a word's address is known to be right once all the
 * words before it have compared equal, so a remembered stack of a coroutine or thread that is gone
 * leads nowhere. Where code may be unloaded and replaced, it is asked again where the stack's code
 * is when anything was unloaded since (modules.h).
 *
 * Stacks that begin alike share their beginnings: the memory is a tree, in which a word that is
 * another than expected leads on to the stacks that have that one there.
 *
 * In hooks, on the thread that owns the memory, with recording's re-entry guard held.
 */
#ifndef PRELOAD_GUARDS_H
#define PRELOAD_GUARDS_H

#include <stddef.h>

#include "preload/modules.h"
#include "preload/unwind.h"

/* What is known of a remembered stack. Valid until the next guards_keep of the thread. */
struct guards_leaf {
	uint32_t site;
	uint32_t counter; /* the recorder's: 0 at first, then as it was left here */
	uint32_t proved; /* when it was asked where the code is: GUARDS_PINNED, a generation of
			    modules.h, or GUARDS_UNPROVED */
	uint8_t truncated; /* the stack is missing outer frames */
	uint8_t unpinned; /* objects in it that may be unloaded, told of after the words */
};

/* A run of expected words, up to GUARDS_END. */
struct guards_record {
	uint64_t key; /* root: frame and function; child: where it leaves its parent */
	struct guards_leaf leaf;
	uint32_t exit; /* the first record that leaves this one, 0: none; */
	uint16_t exit_at; /* and at which word */
	uint16_t count; /* words, the end not counted */
	uint64_t words[]; /* as in struct unwind's guards */
};

/* One thread's memory of stacks; zero at first. Only that thread reads and writes it. */
struct guards {
	uint32_t *roots; /* where in the arena a record is, in words */
	uint32_t *exits;
	uint64_t *arena;
	uint64_t mask; /* of indices into roots and into exits */
	uint64_t words; /* of the arena, */
	uint64_t used; /* and of them in use */
	struct guards_leaf spare; /* of a stack that cannot be remembered */
};

#define GUARDS_PINNED	UINT32_MAX /* all of it is in objects that stay */
#define GUARDS_UNPROVED 0u /* it is to be asked each time: no generation */
/* Ends a record: no stack has it, since a hook's return address is not 0. */
#define GUARDS_END	  (1ull << GUARDS_VALUE_BITS)
#define GUARDS_VALUE_BITS 48u
#define GUARDS_VALUE_MASK ((1ull << GUARDS_VALUE_BITS) - 1)

/* False: no memory. */
bool guards_start(struct guards *g);
void guards_end(struct guards *g);
/*
 * Remembers the site of a stack just taken, if it can be, and returns its leaf, whether it could or
 * not. Site 0 is not remembered.
 */
struct guards_leaf *guards_keep(
	struct guards *g, const struct unwind *u, uint32_t function, uint32_t site);

/* Out of line: goes on where the record `r` has another word, at `w`, than the stack. */
struct guards_leaf *guards_branch(
	struct guards *g, uintptr_t frame, struct guards_record *r, const uint64_t *w);
/* Out of line: asks where the code of a record's stack is. False: not where it was. */
bool guards_prove(struct guards_record *r);
/* Out of line: looks where else the root may be. */
struct guards_leaf *guards_search(struct guards *g, uintptr_t frame, uint32_t function);

HT_HOT uint64_t guards_key(uintptr_t frame, uint32_t function)
{
	return frame | (uint64_t)function << GUARDS_VALUE_BITS;
}

/* Where to look for the root of the stacks at a frame with this return address. */
HT_HOT uint64_t guards_root_index(const struct guards *g, uintptr_t frame, uint64_t first)
{
	return (frame ^ first << 16) * 0x9e3779b97f4a7c15ull >> 44 & g->mask;
}

HT_HOT struct guards_record *guards_at(const struct guards *g, uint32_t at)
{
	return (struct guards_record *)(void *)(g->arena + at);
}

HT_HOT struct guards_record *guards_root(const struct guards *g, uintptr_t frame)
{
	uint64_t first = *(const uint64_t *)(frame + 8);

	return guards_at(g, g->roots[guards_root_index(g, frame, first)]);
}

/* Brings the record that guards_find will want nearer. */
HT_HOT void guards_prefetch(const struct guards *g, uintptr_t frame)
{
	const char *r = (const char *)guards_root(g, frame);

	__builtin_prefetch(r);
	__builtin_prefetch(r + 64);
}

/* The word on the stack that a guard speaks of. */
HT_HOT uint64_t guards_word(uintptr_t frame, uint64_t guard)
{
	return ((const uint64_t *)frame)[guard >> GUARDS_VALUE_BITS];
}

HT_HOT bool guards_differ(uintptr_t frame, uint64_t guard)
{
	return __builtin_expect(guards_word(frame, guard) != (guard & GUARDS_VALUE_MASK), 0);
}

/* The first of these words that the stack does not have. Six instructions a word. */
HT_HOT const uint64_t *guards_compare(uintptr_t frame, const uint64_t *w)
{
	for (;; w += 4) {
		if (guards_differ(frame, w[0]))
			break;
		if (guards_differ(frame, w[1])) {
			w += 1;
			break;
		}
		if (guards_differ(frame, w[2])) {
			w += 2;
			break;
		}
		if (guards_differ(frame, w[3])) {
			w += 3;
			break;
		}
	}
	/* The caller is to load the word again, and not to keep a copy of each. */
	__asm__("" : "+r"(w));
	return w;
}

/* Whether the code of a record's stack is where it was. Before its words are looked for: they are
 * where that code left them. */
HT_HOT bool guards_holds(struct guards_record *r)
{
	return __builtin_expect(r->leaf.proved == GUARDS_PINNED, 1) ||
	       r->leaf.proved == modules_generation() || guards_prove(r);
}

/* What is remembered of the stack at `frame`, or NULL. */
HT_HOT struct guards_leaf *guards_find(struct guards *g, uintptr_t frame, uint32_t function)
{
	struct guards_record *r = guards_root(g, frame);
	const uint64_t *w;

	if (__builtin_expect(r->key != guards_key(frame, function), 0))
		return guards_search(g, frame, function);
	if (!guards_holds(r))
		return NULL;
	w = guards_compare(frame, r->words);
	return __builtin_expect(*w == GUARDS_END, 1) ? &r->leaf : guards_branch(g, frame, r, w);
}

#endif
