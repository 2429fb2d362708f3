/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that a thread's remembered stacks are in: an arena of records and the tables of them.
 * stack_cache.h says what they mean. It grows with use, up to a size that the processor's caches
 * hold most of; beyond that only while forgotten stacks recur, and within a bound for all threads
 * together. When it is full, either all stacks are forgotten, or no more are remembered.
 *
 * In hooks, on the thread that owns the memory, with the re-entry guard held. errno may change.
 */
#ifndef PRELOAD_STACK_MEMORY_H
#define PRELOAD_STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A remembered stack. Valid until the thread's next stack_cache_keep. */
struct stack_cache_leaf {
	uint32_t site;
	uint32_t counter; /* the site's, as the recorder last found it (counter.h); 0 at first */
	uint32_t proved; /* when its code was last checked: STACK_CACHE_PINNED, a generation of
			    modules.h, or STACK_CACHE_UNPROVED */
};

/* Expected words, and the place of each on the stack, in words from the hook's frame. Comparing one
 * takes four instructions and two loads. */
#define STACK_CACHE_BLOCK 4u
struct stack_cache_block {
	uint16_t at[STACK_CACHE_BLOCK];
	uint64_t value[STACK_CACHE_BLOCK];
};

/* A run of expected words, ended by one of value STACK_CACHE_END, or by a tail: the place of words
 * in an older record that follow here, too. */
struct stack_cache_record {
	uint64_t key; /* root: frame and function; child: parent and the word at which it leaves the
			 parent */
	uint64_t first; /* and the word found there */
	struct stack_cache_leaf leaf;
	uint32_t exit; /* the first record that leaves this one, 0: none */
	uint16_t exit_at; /* the word at which that one leaves */
	uint16_t exit_tag; /* a hash of the word found there */
	uint32_t count : 12; /* words of its own, the end not counted */
	uint32_t total : 12; /* words, its tail's included */
	uint32_t hops : 2; /* records that its tail leads through */
	uint32_t unpinned : 3; /* objects in it that may be unloaded */
	struct stack_cache_block block[]; /* followed by the frame of its tail's words, if it has
					     one, and by the unloadable objects */
};

/* Where a comparison ended without a remembered stack: what a record of this stack has for a key,
 * and from which of the stack's words on it must be written. */
struct stack_cache_stop {
	bool known;
	uint32_t guard;
	uint64_t key;
	uint64_t address, value; /* of that word */
};

/* The record of the stack that was unwound last. */
struct stack_cache_last {
	uint32_t record; /* 0: none */
	uintptr_t frame;
};

/* What became of stacks since the memory was last empty or last grew. */
struct stack_cache_use {
	uint32_t news; /* stacks remembered that had no site yet */
	uint32_t again; /* stacks unwound again */
	uint64_t found; /* stacks found behind an exit or a tail */
	uint64_t searches; /* for a stack behind an exit, */
	uint64_t exits; /* and exits that these led through */
	uint64_t frames; /* of stacks unwound, without those shared with the one before */
};

/* What a viewer is shown of the memory: words of the segment, of all threads together. */
struct stack_cache_shown {
	uint64_t *bytes;
	uint64_t *forgotten; /* times */
};

/* One thread's memory of stacks; zero at first. Only that thread reads and writes it. */
struct stack_cache {
	/* Hashes of records: the place in the arena, in words, below a part of the hash. */
	uint64_t *roots;
	uint64_t *exits;
	uint64_t *arena;
	uint64_t root_mask; /* of indices into roots */
	uint64_t exit_mask;
	uint64_t words; /* of the arena */
	uint64_t used; /* words in use */
	uint64_t populated; /* words whose memory was taken ahead */
	struct stack_cache_stop stop;
	struct stack_cache_last last, previous;
	struct stack_cache_use use;
	bool full; /* nothing more is remembered, */
	bool blind; /* and exits are not followed: hardly any stack is found, */
	bool deep; /* or searches lead through too many; */
	bool apart; /* but stacks are too far from each other to be unwound instead */
	bool recurs; /* when it last had no room, stacks came again, and it may grow */
	uint32_t windows, patience; /* since so many judgements, and at most so many */
	uint64_t window; /* stacks unwound from one to the next, */
	uint64_t again_most; /* or of those, stacks that come again */
	struct stack_cache_shown shown;
	struct stack_cache_leaf spare; /* for a stack that cannot be remembered */
};

/* `shown` lives longer than the memory. False: no memory. */
bool stack_memory_start(struct stack_cache *g, struct stack_cache_shown shown);
/* `shown_too`: it is still this process's. */
void stack_memory_end(struct stack_cache *g, bool shown_too);
/* In a forked child, which has no threads yet: nothing counts towards the bound. */
void stack_memory_forked(void);

/* Whether nothing is to be remembered, without any doubt. */
static inline bool stack_memory_stays(const struct stack_cache *g)
{
	return g->full && (uint64_t)g->use.news + g->use.again < g->window &&
	       g->use.again <= g->again_most;
}

/* Makes room for a record of so many words. False: it is not to be remembered. All records may be
 * forgotten then; g->stop is unknown. */
bool stack_memory_room(struct stack_cache *g, uint64_t words);
void stack_memory_forget_all(struct stack_cache *g);
/* No stack is found any more, but records found before stay as they are: until then
 * stack_memory_forget_all must follow before the next one is remembered. */
void stack_memory_hide(struct stack_cache *g);

#endif
