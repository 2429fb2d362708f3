/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call stack while it is taken: shared by the unwinders, the stack walk and the stack memory. */
#ifndef PRELOAD_UNWIND_TYPES_H
#define PRELOAD_UNWIND_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/arch/cfi_rule.h"
#include "preload/modules.h"

#define UNWIND_SPARE 8u /* frames of room beyond the depth asked for */

/* Words, per frame of room, that a stack may depend on and be remembered by: the return address,
 * and the saved rbp where that is used. */
#define UNWIND_WORDS 2u

/* What a thread remembers of its last walk in any case; zero at first. */
struct unwind_known {
	uint64_t low, high; /* whole readable pages of the stack that it was on */
	struct module_range code; /* a range of code that stays, or an empty one */
};

/* A word of the stack: its address and what it holds. */
struct unwind_word {
	uint64_t at, value;
};

/* rbp between two changes. The frames that have it in common share this. */
struct unwind_rbp {
	uint64_t value;
	uint64_t at; /* where it was read (0: not from a word of the stack) */
	uint16_t needed; /* from the frames numbered so and above, the rest of the walk uses it */
	uint16_t noted_at; /* before the frames numbered below this, its word was noted, */
	bool noted; /* if it was at all */
	bool known;
};

/* The state of a walk at a frame: the rest of the walk follows from it. */
struct unwind_frame {
	uint64_t rsp;
	uint16_t words; /* those numbered below this are noted further out */
	uint16_t rbp; /* number of its unwind_rbp */
	uint16_t unpinned; /* less that of a frame further out: unloadable frames up to there */
	bool exact; /* the frame was interrupted, not returned to */
	bool after_ours; /* frames of ours were skipped to get here */
};

/*
 * What a walk found. Everything is numbered from the outside: a walk fills each array from a high
 * number down, and what is further in can be replaced without moving the rest. Frame number q has
 * its pc at pcs_end[-1 - q], and so its module, because others read them innermost first.
 */
struct unwind_trail {
	struct unwind_frame *frames;
	struct unwind_word *words;
	struct unwind_rbp *rbps;
	uint64_t *pcs_end;
	uint32_t *modules_end;
	uint32_t room; /* frames, and as many rbps; UNWIND_WORDS times as many words */
	uint32_t low, top; /* frames from `low` up to, not including, `top` */
	uint32_t words_low, words_top;
	uint32_t rbps_low, rbps_top; /* `rbps_low` is the walk's present one */
	uint16_t unpinned_low, unpinned_top;
	uint32_t settled; /* of the frames numbered below this, all words read are noted */
	bool complete; /* and of all others, too */
};

/* A call stack while it is taken. Return addresses are those of the program's frames, innermost
 * first, without the library's own. */
/* The inner frames of a stack that is near the previous one (unwind_cfi.c). */
#define UNWIND_NEAR 8u
struct unwind_near_frame {
	uint64_t rsp, pc;
	uint64_t rbp_at; /* where its rbp is kept */
#if CFI_RULE_LINK
	uint64_t pc_at; /* where its pc was read */
#endif
	uint32_t module;
	bool saves; /* its caller's rbp is kept elsewhere */
};
struct unwind_near {
	/* Innermost first, then the one where the stacks meet. */
	struct unwind_near_frame frame[UNWIND_NEAR + 1];
	uint32_t count; /* without that */
	uint32_t at; /* its number in the previous stack */
};

struct unwind {
	uintptr_t frame; /* in: frame address of the hook (its caller's rbp is there, then the
			    return address) */
	uint32_t depth; /* in: frames to keep at most */
	uint32_t generation; /* out: of modules.h, loaded before any lookup */
	const uint64_t *pcs; /* out */
	const uint32_t *modules; /* out: of each pc, as ht_node.module wants it */
	uint32_t count;
	uint32_t kept; /* out: the number of outermost frames shared with the previous stack */
	bool unpinned; /* out: some of the code may be unloaded */
	bool truncated; /* out: outer frames are missing: depth, or the unwinder could not go on */
	/* The words that the result was computed from, in the order read: unwind_guard. While these
	 * words are unchanged, so is the stack. */
	bool repeatable; /* they are complete, and each fits unwind_guard */
	uint32_t guard_count;
	uint32_t shared; /* out: so many of the last ones are the previous stack's last ones */
	uint32_t number; /* out: of this stack; the previous stack's is one less */
	const struct unwind_word *words_end;

	/* The unwinder's own. */
	struct unwind_known known;
	struct unwind_trail fresh; /* what this walk adds, while it goes on */
	struct unwind_trail last; /* the previous stack; and what is known further out */
	uint8_t last_whole; /* it can be used: no handler left while it was changed */
	bool last_open; /* its walk could have gone on: it reached the depth */
	bool last_truncated; /* its walk did not reach the stack's end */
	uint32_t last_generation;
	uint32_t last_low; /* number of the outermost frame of the previous stack */
	uint64_t last_rsp; /* where its walk ended */
	struct unwind_near near;
};

#define UNWIND_VALUE_BITS 48u
#define UNWIND_VALUE_MASK ((1ull << UNWIND_VALUE_BITS) - 1)
#define UNWIND_PLACE_MAX  UINT16_MAX

/* Guard number `i`: 16 bits of distance from `frame` in words, 48 bits of value. */
static inline uint64_t unwind_guard(const struct unwind *u, uint32_t i)
{
	const struct unwind_word *w = u->words_end - 1 - i;

	/* The distance is in bytes, and a multiple of a word's. */
	return (w->at - u->frame) << (UNWIND_VALUE_BITS - CFI_RULE_WORD_LOG2) | w->value;
}

/* Bounds of this library in memory, from the linker: stacks omit its own frames. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool unwind_is_ours(uint64_t pc)
{
	return pc - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(_end - __ehdr_start);
}

#endif
