/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk along a stack, one frame at a time. A state is (rsp, pc, rbp); the rule at pc gives the
 * caller's three. It stops cleanly at the outermost frame, and at anything that it cannot prove: no
 * information, a rule of another kind, a frame that does not move outwards.
 *
 * On the way it notes the words of the stack that the result depends on (stack_cache.h): each
 * return address, and a saved rbp at the moment a rule uses it (until then it is the program's
 * data).
 */
#ifndef PRELOAD_WALK_H
#define PRELOAD_WALK_H

#include "preload/modules.h"
#include "preload/unwind_types.h"

struct walk {
	struct unwind *u;
	uint64_t pc;
	struct unwind_frame at;
	struct module_range range; /* of the code around pc, set by walk_range */
};

/* Once, at start. */
void walk_begin(void);
/* Starts from a hook, u->frame. False: not even its caller is known. */
bool walk_start(struct walk *w, struct unwind *u);
/* Finds the range that pc is in. */
void walk_range(struct walk *w);
/* Moves from a frame to its caller's; call walk_range before. False: this was the last; *whole: the
 * stack ends there. */
bool walk_step(struct walk *w, bool *whole);
/* Notes that the result depends on the word at `address`, which holds `value`. */
void walk_note(struct unwind *u, uint64_t address, uint64_t value);
/* Rereads rbp from its place. False: it cannot be read. */
bool walk_rbp_again(struct walk *w);
/* Notes that the rest depends on rbp, from the first frame on that has the same rbp. */
void walk_rbp_needed(struct walk *w);

#endif
