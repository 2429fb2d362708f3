/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Follows the characters and sequences of a terminal's output (sequence_guard.h), as far as to know
 * where one ends and which parameter is read. Where the emulator may see it otherwise, the sequence
 * is cancelled for both, and no character counts as the last one. Source: ECMA-48.
 */
#include "src/target/sequence_guard.h"

#include <string.h>

#include "src/util/text.h"

#define NUL	0x00
#define BEL	0x07
#define CANCEL	0x18
#define SUB	0x1a
#define ESC	0x1b
#define DEL	0x7f
#define REPEAT	'b'
#define VOID	'z' /* a final byte without a meaning */
#define UNKNOWN '?' /* for what is no character, as in text_clean */
#define RESTORE '8' /* behind ESC: the cursor is where it was saved */
#define NOTHING "\033[0n" /* has no effect, but that the cursor is on the screen after it */

static size_t give(char *out, unsigned char c)
{
	*out = (char)c;
	return 1;
}

/* ---- characters ---- */

/* Bytes of the character that begins with `c`; 0 if none does. */
static size_t character_bytes(unsigned char c)
{
	return c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The byte is one of a character that is not of ASCII. */
static size_t character_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	size_t bytes = g->part_bytes + 1;
	uint32_t code;

	g->part[g->part_bytes++] = (char)c;
	g->glyph = 0;
	if (bytes < character_bytes((unsigned char)g->part[0]))
		return 0;
	g->part_bytes = 0;
	if (bytes < 2 || text_decode(g->part, bytes, &code) != bytes || code < 0xa0)
		return give(out, UNKNOWN);
	memcpy(out, g->part, bytes);
	return bytes;
}

static size_t text_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	if (c >= 0x80)
		return character_pass(g, c, out);
	if (c >= ' ')
		g->glyph = (char)c;
	return give(out, c);
}

/* ---- sequences ---- */

/* A byte that does not belong into a sequence: the emulator may go on waiting for the rest. */
static size_t sequence_cancel(struct sequence_guard *g, char *out)
{
	*g = (struct sequence_guard){ 0 };
	return give(out, CANCEL);
}

/* The screen may have become smaller since the cursor was saved. */
static size_t restore_pass(char *out)
{
	*out = RESTORE;
	memcpy(out + 1, NOTHING, strlen(NOTHING));
	return 1 + strlen(NOTHING);
}

static size_t escape_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	char glyph = g->glyph;
	bool is_plain = g->is_plain;

	if (c >= 0x80)
		return sequence_cancel(g, out);
	if (c < '0') { /* controls, and intermediate bytes */
		g->is_plain = is_plain && c < ' ';
		return give(out, c);
	}
	*g = (struct sequence_guard){ 0 };
	if (c == RESTORE && is_plain)
		return restore_pass(out);
	if (c == '[')
		*g = (struct sequence_guard){ SEQUENCE_LEADER, .glyph = glyph, .is_plain = true };
	else if (c == ']' || c == 'P')
		g->state = SEQUENCE_STRING;
	else if (strchr("X^_", c)) /* strings that the emulator does not know, and would show */
		g->state = SEQUENCE_SKIPPED;
	return give(out, g->state == SEQUENCE_SKIPPED ? CANCEL : c);
}

static size_t digit_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	unsigned value = g->value * 10 + (c - '0');

	if (g->parameters >= SEQUENCE_PARAMETERS_MOST || value > SEQUENCE_VALUE_MOST)
		return 0;
	g->value = value;
	if (g->parameters == 0)
		g->first = value;
	return give(out, c);
}

static size_t separator_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	g->value = 0;
	if (g->parameters < SEQUENCE_PARAMETERS_MOST)
		g->parameters++;
	return g->parameters < SEQUENCE_PARAMETERS_MOST ? give(out, c) : 0;
}

static size_t final_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	g->state = SEQUENCE_TEXT;
	if (c != REPEAT)
		return give(out, c);
	if (g->glyph && g->is_plain)
		g->repeat = g->first ?: 1;
	return give(out, VOID);
}

static bool is_leader(unsigned char c)
{
	return c >= '<' && c <= '?';
}

static bool is_parameter(unsigned char c)
{
	return c >= '0' && c <= ';';
}

static size_t sequence_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	if (c < ' ') /* controls take effect inside of sequences */
		return give(out, c);
	if (g->state == SEQUENCE_LEADER && is_leader(c)) {
		g->is_plain = false;
		return give(out, c);
	}
	if (g->state < SEQUENCE_INTERMEDIATE && is_parameter(c)) {
		g->state = SEQUENCE_PARAMETERS;
		return c <= '9' ? digit_pass(g, c, out) : separator_pass(g, c, out);
	}
	if (c < '0') {
		g->state = SEQUENCE_INTERMEDIATE;
		g->is_plain = false;
		return give(out, c);
	}
	return c >= '@' && c < DEL ? final_pass(g, c, out) : sequence_cancel(g, out);
}

/* ---- both ---- */

static size_t byte_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	if (c == ESC) {
		g->state = SEQUENCE_ESCAPE;
		g->is_plain = true;
	} else if (c == CANCEL || c == SUB || (c == BEL && g->state >= SEQUENCE_STRING))
		g->state = SEQUENCE_TEXT;
	else if (g->state == SEQUENCE_TEXT)
		return text_pass(g, c, out);
	else if (g->state == SEQUENCE_ESCAPE)
		return escape_pass(g, c, out);
	else if (g->state < SEQUENCE_STRING)
		return sequence_pass(g, c, out);
	else if (g->state == SEQUENCE_SKIPPED)
		return 0;
	return give(out, c < 0x80 ? c : UNKNOWN);
}

size_t sequence_guard_pass(struct sequence_guard *g, char byte, char out[SEQUENCE_PASS_MOST])
{
	unsigned char c = (unsigned char)byte;
	bool is_dropped = g->is_dropped && c != ESC;
	size_t given = 0;

	g->repeat = 0;
	if (c == NUL || c == DEL) /* padding, wherever it stands */
		return 0;
	if (g->part_bytes > 0 && !is_continuation(c)) { /* the character was cut off */
		g->part_bytes = 0;
		given = give(out, UNKNOWN);
	}
	given += byte_pass(g, c, out + given);
	g->is_dropped = is_dropped && g->state != SEQUENCE_TEXT;
	if (!is_dropped)
		return given;
	g->repeat = 0;
	return 0;
}

size_t sequence_guard_cut(struct sequence_guard *g, char out[SEQUENCE_PASS_MOST])
{
	if (g->state == SEQUENCE_TEXT || g->state == SEQUENCE_SKIPPED || g->is_dropped)
		return 0;
	g->is_dropped = true;
	return give(out, CANCEL);
}
