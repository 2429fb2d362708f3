/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps a terminal emulator from a sequence that it does not survive: libvterm 0.1 never returns
 * from "repeat the last character" (CSI Ps b) when it takes the last character for one without
 * width, or there is none. Behind a character of ASCII, for which programs use the sequence, the
 * caller repeats that instead. All zeros: the start of the output. Main thread.
 */
#ifndef SRC_TARGET_REPEAT_GUARD_H
#define SRC_TARGET_REPEAT_GUARD_H

#include <stdbool.h>

enum repeat_state { REPEAT_TEXT, REPEAT_ESCAPE, REPEAT_SEQUENCE, REPEAT_STRING };

struct repeat_guard {
	enum repeat_state state; /* of the output so far */
	char glyph; /* the last character, if it is one of ASCII; else 0 */
	unsigned count; /* of the sequence, so far */
	unsigned repeat; /* so often `glyph` comes behind the byte that was passed last */
};

#define REPEAT_MOST 999u /* cells of a line */

/* The byte that the emulator gets instead of the output's next one: the same, or one that ends the
 * sequence without effect. Sets `repeat`. */
char repeat_guard_pass(struct repeat_guard *g, char byte);

#endif
