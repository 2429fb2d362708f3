/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps a terminal emulator from output that it does not survive. libvterm 0.1 stores the
 * parameters of a sequence (CSI 1;2;3 m) in 16 places without counting, lets large numbers
 * overflow, decodes characters that are cut off to more than it has room for, moves left of the
 * screen for controls that are encoded as characters, restores a cursor to where a larger screen
 * had it, and never returns from "repeat the last character" (CSI Ps b) when it takes the last
 * character for one without width, or there is none. So it gets no parameter behind the 16th, no
 * number that is larger than any use, and only whole characters; and behind "restore" a sequence
 * that brings the cursor back to the screen. Behind a character of ASCII, for which programs use
 * "repeat", the caller repeats that instead. All zeros: the start of the output. Main thread.
 */
#ifndef SRC_TARGET_SEQUENCE_GUARD_H
#define SRC_TARGET_SEQUENCE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum sequence_state {
	SEQUENCE_TEXT, /* outside of sequences */
	SEQUENCE_ESCAPE, /* behind ESC */
	SEQUENCE_LEADER, /* behind CSI: <, =, > and ? */
	SEQUENCE_PARAMETERS, /* digits, ; and : */
	SEQUENCE_INTERMEDIATE, /* blank to /, then the final byte */
	SEQUENCE_STRING, /* a title, or a question about the terminal */
	SEQUENCE_SKIPPED /* a string of which the emulator gets nothing */
};

struct sequence_guard {
	enum sequence_state state; /* of the output so far */
	char part[4]; /* of a character of UTF-8 */
	size_t part_bytes;
	char glyph; /* the last character, if it is one of ASCII; else 0 */
	bool is_plain; /* the sequence has no intermediate bytes, and no leader */
	bool is_dropped; /* the emulator gets nothing of the rest of the sequence */
	unsigned parameters; /* of the sequence, before the current one */
	unsigned first, value; /* the first parameter, and the current one, as far as it is read */
	unsigned repeat; /* so often `glyph` comes behind the byte that was passed last */
};

#define SEQUENCE_PARAMETERS_MOST 16u
#define SEQUENCE_VALUE_MOST	 9999u
#define SEQUENCE_PASS_MOST	 8u

/* Writes what the emulator gets for the output's next byte to `out`; returns how many bytes that
 * is, which must reach the emulator in one piece. Sets `repeat`. */
size_t sequence_guard_pass(struct sequence_guard *g, char byte, char out[SEQUENCE_PASS_MOST]);
/* As sequence_guard_pass, where the caller wants to write a sequence of its own: what ends the
 * output's, if one has begun. The output's next bytes, to its end, have no effect. */
size_t sequence_guard_cut(struct sequence_guard *g, char out[SEQUENCE_PASS_MOST]);

#endif
