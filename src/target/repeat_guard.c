/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows the sequences of a terminal's output (repeat_guard.h), as far as to know where one ends.
 * Where the emulator may see it otherwise, no character counts as the last one. Source: ECMA-48.
 */
#include "src/target/repeat_guard.h"

#include <string.h>

#define BEL    0x07
#define CANCEL 0x18
#define SUB    0x1a
#define ESC    0x1b
#define REPEAT 'b'
#define VOID   'z' /* a final byte without a meaning */

static void text_pass(struct repeat_guard *g, unsigned char c)
{
	if (c >= ' ' && c != 0x7f)
		g->glyph = c < 0x80 ? (char)c : 0;
}

/* A byte that is none of ASCII is no part of a sequence, but the emulator may go on waiting for the
 * rest: it gets one that cancels the sequence. */
static char escape_pass(struct repeat_guard *g, unsigned char c)
{
	if (c >= 0x80) {
		*g = (struct repeat_guard){ 0 };
		return CANCEL;
	}
	if (c < '0') /* controls, and intermediate bytes */
		return (char)c;
	g->state = c == '[' ? REPEAT_SEQUENCE : strchr("]PX^_", c) ? REPEAT_STRING : REPEAT_TEXT;
	g->glyph = c == '[' ? g->glyph : 0;
	g->count = 0;
	return (char)c;
}

static char sequence_pass(struct repeat_guard *g, unsigned char c)
{
	bool ends = c >= '@' && c < 0x7f;

	if (c >= '0' && c <= '9')
		g->count = g->count < REPEAT_MOST ? g->count * 10 + (c - '0') : g->count;
	if (c >= 0x7f)
		g->glyph = 0;
	if (ends || c == CANCEL || c == SUB)
		g->state = REPEAT_TEXT;
	if (c != REPEAT)
		return (char)c;
	if (g->glyph)
		g->repeat = g->count == 0 ? 1 : g->count < REPEAT_MOST ? g->count : REPEAT_MOST;
	return VOID;
}

char repeat_guard_pass(struct repeat_guard *g, char byte)
{
	unsigned char c = (unsigned char)byte;

	g->repeat = 0;
	if (c == ESC) {
		g->state = REPEAT_ESCAPE;
		return byte;
	}
	switch (g->state) {
	case REPEAT_TEXT:
		text_pass(g, c);
		break;
	case REPEAT_ESCAPE:
		return escape_pass(g, c);
	case REPEAT_SEQUENCE:
		return sequence_pass(g, c);
	case REPEAT_STRING:
		if (c == BEL || c == CANCEL || c == SUB)
			g->state = REPEAT_TEXT;
	}
	return byte;
}
