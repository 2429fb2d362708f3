/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a hook to the call stack that led to it. Called on any thread, with recording's re-entry
 * guard held: an unwinder that allocates is served, and not recorded.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

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
	uint64_t *pcs; /* out: room for depth + RECORDER_SPARE, as in the next two */
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

/* Chooses the unwinder by HEAPTOP_UNWINDER: own (the default), libunwind, or check. Once, at start.
 */
void unwind_start(const char *choice);
/* Whether every stack is to be taken and compared, remembered or not. */
extern bool unwind_check __attribute__((visibility("hidden")));
static inline bool unwind_checks(void)
{
	return unwind_check;
}
/* Takes the stack by the chosen unwinder. `last`: what the thread took before, with the arrays as
 * they were left. `spare`: to check by. */
void unwind_take(struct unwind *u, const struct unwind *last, struct unwind *spare);

/* Bounds of this library in memory, from the linker: its own frames are left out of stacks. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool unwind_is_ours(uint64_t pc)
{
	return pc - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(_end - __ehdr_start);
}

/* By call frame information (unwind_own.c), and, as far as it is the same, by the stack before. */
void unwind_own(struct unwind *u, const struct unwind *last);
/*
 * Whether no frame of ours lies between that of a hook, at `frame`, and `until`, further out on the
 * same stack. False also where the way there cannot be followed. Where `frame` is not deeper than
 * `until`: whether no frame of ours is among the hook's callers, as far as they can be followed.
 * Of signal handlers' use: touches nothing of the thread's.
 */
bool unwind_own_passes(uintptr_t frame, uintptr_t until);
/*
 * The stack pointer in the outermost frame of a thread, if all that is called from there, in to
 * `frame`, is of the loader, of `module` or of ours. 0: it is not, or that cannot be followed.
 */
uint64_t unwind_own_outermost(uintptr_t frame, uint32_t module);
/* By libunwind (unwind_libunwind.c), which is loaded by the first of these. False: it is not there.
 */
bool unwind_libunwind_load(void);
void unwind_libunwind(struct unwind *u);

#endif
