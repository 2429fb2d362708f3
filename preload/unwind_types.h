/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call stack while it is taken: shared by the unwinders, the stack walk and the stack memory. */
#ifndef PRELOAD_UNWIND_TYPES_H
#define PRELOAD_UNWIND_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define UNWIND_SPARE 8u /* frames of room beyond the depth asked for */

/* Words, per frame of room, that a stack may depend on and be remembered by: the return address,
 * and the saved rbp where that is used. */
#define UNWIND_GUARDS 2u

/* Whole readable pages of the stack that the thread was last on. */
struct unwind_known {
	uint64_t low, high;
};

/* The state of a walk at a frame: the rest of the walk follows from it. */
struct unwind_frame {
	uint64_t rsp;
	uint64_t rbp; /* its value, */
	uint64_t rbp_at; /* where it was read (0: not from a word of the stack) */
	uint16_t rbp_age; /* the number of changes so far */
	bool rbp_known : 1;
	bool rbp_noted : 1; /* that word is among the guards */
	bool rbp_needed : 1; /* the rest of the walk depends on it */
	bool exact : 1; /* the frame was interrupted, not returned to */
	uint16_t guards; /* words noted up to here */
};

/* A call stack while it is taken. Return addresses are those of the program's frames, innermost
 * first, without the library's own. */
struct unwind {
	uintptr_t frame; /* in: frame address of the hook (its caller's rbp is there, then the
			    return address) */
	uint32_t depth; /* in: frames to keep at most */
	uint32_t guard_room; /* in: of guards */
	struct unwind_known *known; /* in, out: the thread's own; zero at first */
	uint64_t *pcs; /* out: room for depth + UNWIND_SPARE, as in the next two */
	uint32_t *modules; /* out: of each pc, as ht_node.module wants it */
	struct unwind_frame *frames; /* out */
	uint32_t generation; /* out: of modules.h, loaded before any lookup */
	uint32_t count;
	uint32_t kept; /* out: the number of outermost frames shared with the previous stack */
	uint32_t settled; /* out: from this frame on all words read are noted */
	bool unpinned; /* out: some of the code may be unloaded */
	bool truncated; /* out: outer frames are missing: depth, or the unwinder could not go on */
	/* The words that the result was computed from, in the order read: 16 bits of distance from
	 * `frame` in words, 48 bits of value. While these words are unchanged, so is the stack. */
	bool repeatable; /* `guards` is complete */
	uint32_t guard_count;
	uint64_t *guards;
};

/* Bounds of this library in memory, from the linker: stacks omit its own frames. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool unwind_is_ours(uint64_t pc)
{
	return pc - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(_end - __ehdr_start);
}

#endif
