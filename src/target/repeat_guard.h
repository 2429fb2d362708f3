/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps a terminal emulator from a sequence that it does not survive: libvterm 0.1 never returns
 * from "repeat the last character" (CSI Ps b) when the last character has no width, or there is
 * none. The sequence passes behind a character of ASCII, for which programs use it. All zeros: the
 * start of the output. Main thread.
 */
#ifndef SRC_TARGET_REPEAT_GUARD_H
#define SRC_TARGET_REPEAT_GUARD_H

#include <stdbool.h>

enum repeat_state { REPEAT_TEXT, REPEAT_ESCAPE, REPEAT_SEQUENCE, REPEAT_STRING };

struct repeat_guard {
	enum repeat_state state; /* of the output so far */
	bool glyph; /* the last character is one of ASCII */
};

/* The byte that the emulator gets instead of the output's next one: the same, or one that ends the
 * sequence without effect. */
char repeat_guard_pass(struct repeat_guard *g, char byte);

#endif
