/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk along a stack, a frame at a time. A state is (rsp, pc, rbp); the rule at pc says where the
 * caller's three are. It stops cleanly at the outermost frame, and at anything it cannot prove: no
 * information, a rule of another kind, a frame that does not move outwards.
 *
 * On the way it notes which words of the stack the result depends on (guards.h): each return
 * address, and a saved rbp at the moment a rule uses it (until then it is the program's data).
 */
#ifndef PRELOAD_WALK_H
#define PRELOAD_WALK_H

#include "preload/modules.h"
#include "preload/unwind_types.h"

struct walk {
	struct unwind *u;
	uint64_t pc;
	struct unwind_frame at;
	struct module_range range; /* of code around pc, after walk_range */
};

/* Once, at start. */
void walk_begin(void);
/* Sets out from a hook, u->frame. False: not even its caller is known. */
bool walk_start(struct walk *w, struct unwind *u);
/* Finds the range that pc is in. */
void walk_range(struct walk *w);
/* From a frame to its caller's; walk_range comes before. False: this was the last; *whole tells
 * whether rightly so. */
bool walk_step(struct walk *w, bool *whole);
/* The result depends on the word at `address`, which holds `value`. */
void walk_note(struct unwind *u, uint64_t address, uint64_t value);
/* Reads rbp once more, from where it was read. False: it cannot be read. */
bool walk_rbp_again(struct walk *w);
/* The way from here depends on rbp, and so does that from the frames before that it is the same in.
 */
void walk_rbp_needed(struct walk *w);

#endif
