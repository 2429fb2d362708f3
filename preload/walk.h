/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk along a stack, one frame at a time. A state is (rsp, pc, rbp); the rule at pc gives the
 * caller's three. It stops cleanly at the outermost frame, and at anything that it cannot prove: no
 * information, a rule of another kind, a frame that does not move outwards.
 *
 * On the way it notes the words of the stack that the result depends on (stack_cache.h): each
 * return address, and a saved rbp at the moment a rule uses it (until then it is the program's
 * data). On aarch64 all words of the stack that a walk follows are taken without the signatures
 * that they may carry, there and when they are compared later.
 */
#ifndef PRELOAD_WALK_H
#define PRELOAD_WALK_H

#include "preload/arch/signal_frame.h"
#include "preload/cfi.h"
#include "preload/modules.h"
#include "preload/unwind_types.h"
#include "shm/layout.h"

/* No function has a larger frame; a larger step is a corrupt chain. */
#define WALK_FRAME_MAX (64u << 20)

struct walk {
	struct unwind_known *known;
	struct unwind_trail *trail; /* what is found goes there */
	uint64_t rsp, pc;
	bool exact; /* the frame was interrupted, not returned to */
	bool after_ours; /* frames of ours were skipped to get here */
	struct module_range range; /* of the code around pc, set by walk_range */
#if CFI_RULE_LINK
	uint64_t link; /* of an interrupted frame: the return address, as long as it is nowhere
			  else; 0: unknown */
#endif
};

/* Once, at start. */
void walk_begin(void);
/* Starts from a hook's frame. False: not even its caller is known. */
bool walk_start(
	struct walk *w, uintptr_t frame, struct unwind_known *known, struct unwind_trail *t);
/* Finds the range that pc is in; out of line, when it is another. */
void walk_range_find(struct walk *w);
/* walk_step out of line, for any rule. */
bool walk_step_by(struct walk *w, struct cfi_rule rule, bool *whole);
/* Forgets the outermost frame of the trail and moves back to there, before its range is found.
 * False: its rbp cannot be read. */
bool walk_resume(struct walk *w);

static inline void walk_range(struct walk *w)
{
	if (w->pc - w->range.start >= w->range.end - w->range.start)
		walk_range_find(w);
}

/* Adds the frame to the trail. */
static inline void walk_add(struct walk *w)
{
	struct unwind_trail *t = w->trail;
	uint32_t q = --t->low;

	t->frames[q] = (struct unwind_frame){ .rsp = w->rsp,
		.words = (uint16_t)t->words_low,
		.rbp = (uint16_t)t->rbps_low,
		.unpinned = t->unpinned_low,
		.exact = w->exact,
		.after_ours = w->after_ours };
	t->pcs_end[-1 - (ptrdiff_t)q] = w->pc;
	t->modules_end[-1 - (ptrdiff_t)q] = w->range.module;
	t->unpinned_low = (uint16_t)(t->unpinned_low - ((w->range.module & HT_NODE_UNPINNED) != 0));
	w->after_ours = false;
}

/* Whether this is the most frequent step: all is found from the stack pointer, in known memory, and
 * there is room to note it. */
static inline bool walk_is_plain(const struct walk *w, struct cfi_rule rule)
{
	const struct unwind_known *k = w->known;
	uint64_t cfa = w->rsp + (uint64_t)(int64_t)cfi_rule_offset(rule);
	uint32_t bytes = (uint32_t)cfi_rule_offset(rule),
		 slot = (uint32_t)-cfi_rule_rbp_offset(rule);

	return rule.type == CFI_RSP && bytes - CFI_RULE_WORD < WALK_FRAME_MAX - CFI_RULE_WORD &&
	       cfa % CFI_RULE_WORD == 0 && w->rsp >= k->low && cfa <= k->high &&
	       w->trail->words_low != 0 && cfi_rule_ra_inside(rule, bytes) &&
	       (rule.rbp == CFI_RBP_SAME ||
		       (rule.rbp == CFI_RBP_AT_CFA &&
			       slot - CFI_RULE_WORD <= bytes - CFI_RULE_WORD &&
			       slot % CFI_RULE_WORD == 0 && w->trail->rbps_low != 0));
}

/* Moves from a frame to its caller's; call walk_range before. False: this was the last; *whole: the
 * stack ends there. */
HT_HOT bool walk_step(struct walk *w, bool *whole)
{
	struct cfi_rule rule = cfi_find(w->pc, w->range.module, w->exact);
	uint64_t cfa = w->rsp + (uint64_t)(int64_t)cfi_rule_offset(rule),
		 at = cfa + (uint64_t)cfi_rule_ra_offset(rule);
	uint64_t pc = 0;
	struct unwind_trail *t = w->trail;

	if (__builtin_expect(walk_is_plain(w, rule), 1))
		pc = cfi_rule_word(at);
	if (__builtin_expect(pc - 1 >= UNWIND_VALUE_MASK, 0))
		return walk_step_by(w, rule, whole);
	if (rule.rbp == CFI_RBP_AT_CFA) {
		uint64_t slot = cfa + (uint64_t)(int64_t)cfi_rule_rbp_offset(rule);

		t->rbps[--t->rbps_low] = (struct unwind_rbp){ .value = cfi_rule_word(slot),
			.at = slot,
			.known = true,
			.needed = (uint16_t)t->low };
	}
	t->words[--t->words_low] = (struct unwind_word){ at, pc };
	w->rsp = cfa;
	w->pc = pc;
	w->exact = false;
	*whole = false;
	return true;
}

#endif
