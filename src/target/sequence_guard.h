/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps a terminal emulator from output that it does not survive. libvterm 0.1 stores the
 * parameters of a sequence (CSI 1;2;3 m) in 16 places without counting, lets large numbers
 * overflow, decodes characters that are cut off to more than it has room for, crashes over
 * combining characters that it takes for wide ones, keeps any number of combining characters for
 * one cell, restores a cursor to where a larger screen had it, and never returns from "repeat the
 * last character" (CSI Ps b) if it takes the last character for one without width, or there is
 * none.
 *
 * So it gets whole characters and whole sequences only: at most 15 parameters, none larger than
 * any in use; of strings, only questions about its state; and after "restore", a sequence that
 * brings the cursor back onto the screen. After a character of ASCII, for which programs use
 * "repeat", the caller repeats that instead. All zeros: the start of the output. Main thread.
 */
#ifndef SRC_TARGET_SEQUENCE_GUARD_H
#define SRC_TARGET_SEQUENCE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum sequence_state {
	SEQUENCE_TEXT, /* outside of sequences */
	SEQUENCE_ESCAPE, /* after ESC */
	SEQUENCE_LEADER, /* after CSI: <, =, > and ? */
	SEQUENCE_PARAMETERS, /* digits, ; and : */
	SEQUENCE_INTERMEDIATE, /* blank to /, then the final byte */
	SEQUENCE_STRING, /* a question, or its like */
	SEQUENCE_SKIPPED /* a title, or its like */
};

#define SEQUENCE_PARAMETERS_MOST 15u
#define SEQUENCE_VALUE_MOST	 999999u
#define SEQUENCE_HELD_MOST	 128u
#define SEQUENCE_PASS_MOST	 (SEQUENCE_HELD_MOST + 8)

struct sequence_guard {
	enum sequence_state state; /* of the output so far */
	char held[SEQUENCE_HELD_MOST]; /* of a character or sequence that is not complete */
	size_t held_bytes;
	bool is_dropped; /* the sequence will have no effect */
	bool is_plain; /* it has no intermediate bytes, and no leader */
	bool has_digits; /* the current parameter, whose `value` is not held yet */
	unsigned value;
	unsigned parameters, first; /* those before the current one; the first one's value */
	unsigned marks; /* combining characters since the last other one */
	char glyph; /* the last character, if it is one of ASCII; else 0 */
	unsigned repeat; /* how many times `glyph` follows the byte that was passed last */
};

/* Writes what the emulator gets for the output's next byte to `out`, and returns how many bytes
 * that is; they must reach the emulator in one piece. Sets `repeat`. */
size_t sequence_guard_pass(struct sequence_guard *g, char byte, char out[SEQUENCE_PASS_MOST]);

#endif
