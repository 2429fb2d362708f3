/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a hook to the call stack that led to it. Called on any thread, with recording's re-entry
 * guard held: an unwinder that allocates is served, and not recorded.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#define UNWIND_GUARDS_MAX 90u /* words that a remembered stack may depend on */

/* Parts of the address space that this thread may read: whole pages of its stacks. */
struct unwind_known {
	struct {
		uint64_t low, high;
	} range[2];
};

/*
 * A call stack being taken. Return addresses are of the program's frames, innermost first, without
 * the library's own.
 */
struct unwind {
	uintptr_t frame; /* in: frame address of the hook (its caller's rbp is there, then the
			    return address) */
	uint32_t depth; /* in: frames to keep at most */
	uint64_t *pcs; /* out: room for depth + RECORDER_SPARE */
	uint32_t *modules; /* out: of each pc, as ht_node.module wants it */
	struct unwind_known *known; /* in, out: the thread's own; zero at first */
	uint32_t generation; /* out: of modules.h, before anything was asked */
	uint32_t count;
	bool truncated; /* outer frames are missing: depth, or the unwinder could not go on */
	/*
	 * What the result was computed from, in the order it was read: 16 bits of distance from
	 * `frame` in words, 48 bits of value. As long as these words are the same, so is the stack.
	 */
	bool repeatable; /* `guards` is complete */
	uint32_t guard_count;
	uint64_t guards[UNWIND_GUARDS_MAX];
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
/* Takes the stack by the chosen unwinder. */
void unwind_take(struct unwind *u);

/* Bounds of this library in memory, from the linker: its own frames are left out of stacks. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool unwind_is_ours(uint64_t pc)
{
	return pc - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(_end - __ehdr_start);
}

/* By call frame information (unwind_own.c). */
void unwind_own(struct unwind *u);
/*
 * Whether no frame of ours lies between that of a hook, at `frame`, and `until`, further out on the
 * same stack. False also where the way there cannot be followed. Where `frame` is not deeper than
 * `until`: whether no frame of ours is among the hook's callers, as far as they can be followed.
 * Of signal handlers' use: touches nothing of the thread's.
 */
bool unwind_own_passes(uintptr_t frame, uintptr_t until);
/* By libunwind (unwind_libunwind.c), which is loaded by the first of these. False: it is not there.
 */
bool unwind_libunwind_load(void);
void unwind_libunwind(struct unwind *u);

#endif
