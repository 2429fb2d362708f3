/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call stack being taken: what the unwinders, the stack walk and the stack memory share. */
#ifndef PRELOAD_UNWIND_TYPES_H
#define PRELOAD_UNWIND_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define UNWIND_SPARE 8u /* frames of room beyond the depth asked for */

/* Words that a stack may depend on and be remembered, for each frame of room: its return address,
 * and the saved rbp where that is used. */
#define UNWIND_GUARDS 2u

/* Whole pages of the stack that the thread was on last, which may be read. */
struct unwind_known {
	uint64_t low, high;
};

/* Where a walk was when it came to a frame: from here it goes on the same way each time. */
struct unwind_frame {
	uint64_t rsp;
	uint64_t rbp; /* its value, */
	uint64_t rbp_at; /* where it was read from (0: not from a word of the stack), */
	uint16_t rbp_age; /* how many times it has changed, */
	bool rbp_known : 1;
	bool rbp_noted : 1; /* that word is among the guards */
	bool rbp_needed : 1; /* the way from here depends on it */
	bool exact : 1; /* the frame was interrupted, not returned to */
	uint16_t guards; /* words noted on the way here */
};

/*
 * A call stack being taken. Return addresses are of the program's frames, innermost first, without
 * the library's own.
 */
struct unwind {
	uintptr_t frame; /* in: frame address of the hook (its caller's rbp is there, then the
			    return address) */
	uint32_t depth; /* in: frames to keep at most */
	uint32_t guard_room; /* in: of guards */
	struct unwind_known *known; /* in, out: the thread's own; zero at first */
	uint64_t *pcs; /* out: room for depth + UNWIND_SPARE, as in the next two */
	uint32_t *modules; /* out: of each pc, as ht_node.module wants it */
	struct unwind_frame *frames; /* out */
	uint32_t generation; /* out: of modules.h, before anything was asked */
	uint32_t count;
	uint32_t kept; /* out: that many outermost frames are those of the stack before */
	uint32_t settled; /* out: from this frame on all that was read is noted */
	bool unpinned; /* out: some of the code may be unloaded */
	bool truncated; /* out: outer frames are missing: depth, or the unwinder could not go on */
	/*
	 * What the result was computed from, in the order it was read: 16 bits of distance from
	 * `frame` in words, 48 bits of value. As long as these words are the same, so is the stack.
	 */
	bool repeatable; /* `guards` is complete */
	uint32_t guard_count;
	uint64_t *guards;
};

/* Bounds of this library in memory, from the linker: its own frames are left out of stacks. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool unwind_is_ours(uint64_t pc)
{
	return pc - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(_end - __ehdr_start);
}

#endif
