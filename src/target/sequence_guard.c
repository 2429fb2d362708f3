/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds the characters and sequences of a terminal's output back until they are complete
 * (sequence_guard.h). Controls inside of a sequence that is not a string take effect at once.
 * Source: ECMA-48.
 */
#include "src/target/sequence_guard.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "src/util/text.h"

#define NUL	0x00
#define BEL	0x07
#define CANCEL	0x18
#define SUB	0x1a
#define ESC	0x1b
#define DEL	0x7f
#define REPEAT	'b'
#define RESTORE '8' /* after ESC: the cursor is where it was saved */
#define UNKNOWN '?' /* for what is not a character */
/* Has no effect except to bring the cursor back onto the screen. */
#define NOTHING "\033[0n"
/* Combining characters after another: a cell of the emulator shows no more. */
#define MARKS_MOST 5u
/* Before what a program wants to know: its state. */
#define QUESTION "\033P$q"

static size_t give(char *out, unsigned char c)
{
	*out = (char)c;
	return 1;
}

static size_t give_text(char *out, const char *text, size_t n)
{
	memcpy(out, text, n);
	return n;
}

static void hold(struct sequence_guard *g, unsigned char c)
{
	if (g->held_bytes < sizeof(g->held))
		g->held[g->held_bytes++] = (char)c;
	else
		g->is_dropped = true;
}

/* Forgets what is held. */
static void state_begin(struct sequence_guard *g, enum sequence_state state)
{
	g->state = state;
	g->held_bytes = 0;
	g->is_dropped = false;
}

/* What is held is complete. */
static size_t held_give(struct sequence_guard *g, char *out)
{
	size_t n = g->is_dropped ? 0 : give_text(out, g->held, g->held_bytes);

	state_begin(g, SEQUENCE_TEXT);
	return n;
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

/* Combining ones that libvterm takes for two cells wide. */
static bool is_wide_mark(uint32_t code)
{
	return (code >= 0x302a && code <= 0x302f) || code == 0x3099 || code == 0x309a;
}

/* Cells, or -1, whatever the locale is: libvterm has no locale. */
static int width_of(uint32_t code)
{
	static locale_t utf8;
	locale_t former;
	int width;

	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	former = uselocale(utf8);
	width = wcwidth((wchar_t)code);
	uselocale(former);
	return width;
}

/* What libvterm adds to the cell before it: with libc's, those that are no combining ones there. */
static bool is_mark(uint32_t code)
{
	return width_of(code) == 0 || (code >= 0x600 && code <= 0x603) || code == 0x6dd ||
	       code == 0x6de || code == 0x70f || code == 0x1734;
}

/* A character that has no picture, or that turns the text around: as many blanks. */
static size_t blank_give(uint32_t code, char *out)
{
	int width = width_of(code);
	size_t n = width > 0 ? (size_t)width : 0;

	memset(out, ' ', n);
	return n;
}

static size_t whole_give(struct sequence_guard *g, const char *character, size_t n, char *out)
{
	char clean[sizeof("1234")];
	uint32_t code;

	if (n < 2 || text_decode(character, n, &code) != n) {
		g->marks = 0;
		return give(out, UNKNOWN);
	}
	if (text_clean(clean, sizeof(clean), character, n) != n)
		return blank_give(code, out);
	if (is_wide_mark(code))
		return 0;
	g->marks = is_mark(code) ? g->marks + 1 : 0;
	return g->marks <= MARKS_MOST ? give_text(out, character, n) : 0;
}

/* The byte is one of a character that is not of ASCII. */
static size_t character_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	size_t n;

	hold(g, c);
	n = g->held_bytes;
	g->glyph = 0;
	if (n < character_bytes((unsigned char)g->held[0]))
		return 0;
	g->held_bytes = 0;
	return whole_give(g, g->held, n, out);
}

static size_t text_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	if (c >= 0x80)
		return character_pass(g, c, out);
	if (c >= ' ') {
		g->glyph = (char)c;
		g->marks = 0;
	}
	return give(out, c);
}

/* ---- sequences ---- */

static void escape_begin(struct sequence_guard *g)
{
	state_begin(g, SEQUENCE_ESCAPE);
	hold(g, ESC);
	g->is_plain = true;
}

static void leader_begin(struct sequence_guard *g)
{
	state_begin(g, SEQUENCE_LEADER);
	hold(g, ESC);
	hold(g, '[');
	g->is_plain = true;
	g->has_digits = false;
	g->value = g->parameters = g->first = 0;
}

static void string_begin(struct sequence_guard *g)
{
	state_begin(g, SEQUENCE_STRING);
	hold(g, ESC);
	hold(g, 'P');
}

static size_t escape_end(struct sequence_guard *g, unsigned char c, char *out)
{
	bool restores = c == RESTORE && g->is_plain;
	size_t n;

	hold(g, c);
	g->glyph = 0;
	n = held_give(g, out);
	return n + (restores ? give_text(out + n, NOTHING, strlen(NOTHING)) : 0);
}

static size_t escape_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	if (c < ' ')
		return give(out, c);
	if (c < '0') {
		g->is_plain = false;
		hold(g, c);
	} else if (c == '[') {
		leader_begin(g);
	} else if (c == 'P') {
		string_begin(g);
	} else if (strchr("]X^_", c) || (c == 'k' && g->is_plain)) {
		g->glyph = 0;
		state_begin(g, SEQUENCE_SKIPPED);
	} else {
		return escape_end(g, c, out);
	}
	return 0;
}

static void digit_pass(struct sequence_guard *g, unsigned char c)
{
	unsigned value = g->value * 10 + (c - '0');

	g->has_digits = true;
	g->value = value < SEQUENCE_VALUE_MOST ? value : SEQUENCE_VALUE_MOST;
	if (g->parameters == 0)
		g->first = g->value;
}

static void parameter_end(struct sequence_guard *g)
{
	char digits[16];

	if (g->has_digits && g->parameters < SEQUENCE_PARAMETERS_MOST) {
		snprintf(digits, sizeof(digits), "%u", g->value);
		for (const char *d = digits; *d; d++)
			hold(g, (unsigned char)*d);
	}
	g->has_digits = false;
	g->value = 0;
}

static void separator_pass(struct sequence_guard *g, unsigned char c)
{
	parameter_end(g);
	if (g->parameters < SEQUENCE_PARAMETERS_MOST && ++g->parameters < SEQUENCE_PARAMETERS_MOST)
		hold(g, c);
}

static size_t sequence_end(struct sequence_guard *g, unsigned char c, char *out)
{
	parameter_end(g);
	hold(g, c);
	if (c == REPEAT) {
		if (g->glyph && g->is_plain && !g->is_dropped)
			g->repeat = g->first ?: 1;
		g->is_dropped = true;
	}
	return held_give(g, out);
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
	if (c < ' ')
		return give(out, c);
	if (c >= '@')
		return sequence_end(g, c, out);
	if (g->state == SEQUENCE_LEADER && is_leader(c)) {
		g->is_plain = false;
		hold(g, c);
	} else if (g->state < SEQUENCE_INTERMEDIATE && is_parameter(c)) {
		g->state = SEQUENCE_PARAMETERS;
		if (c <= '9')
			digit_pass(g, c);
		else
			separator_pass(g, c);
	} else if (c < '0') {
		parameter_end(g);
		g->state = SEQUENCE_INTERMEDIATE;
		g->is_plain = false;
		hold(g, c);
	} else {
		g->is_dropped = true; /* up to its final byte */
	}
	return 0;
}

/* The end of a string, which is nothing or a question. */
static size_t string_end(struct sequence_guard *g, char *out)
{
	const size_t least = strlen(QUESTION);
	bool asks = !g->is_dropped && g->held_bytes > least && g->held_bytes <= least + 2 &&
		    memcmp(g->held, QUESTION, least) == 0;
	size_t n = 0;

	if (asks) {
		n = held_give(g, out);
		n += give_text(out + n, "\033\\", 2);
	}
	g->glyph = 0;
	state_begin(g, SEQUENCE_TEXT);
	return n;
}

static size_t string_pass(struct sequence_guard *g, unsigned char c, char *out)
{
	if (c == BEL)
		return string_end(g, out);
	if (c >= ' ' && c < DEL)
		hold(g, c);
	else
		g->is_dropped = true;
	return 0;
}

/* ---- both ---- */

/* What is held is cut off by another sequence, or by a byte that is not part of it. */
static size_t cut_off(struct sequence_guard *g, unsigned char c, char *out)
{
	bool is_character = g->state == SEQUENCE_TEXT && g->held_bytes > 0;

	if (g->state == SEQUENCE_STRING && c == ESC)
		return string_end(g, out);
	state_begin(g, SEQUENCE_TEXT);
	if (!is_character)
		return 0;
	g->marks = 0;
	return give(out, UNKNOWN);
}

static bool is_cut_off(const struct sequence_guard *g, unsigned char c)
{
	if (c == ESC || c == CANCEL || c == SUB)
		return true;
	if (g->state == SEQUENCE_TEXT)
		return g->held_bytes > 0 && !is_continuation(c);
	return c >= 0x80 && g->state < SEQUENCE_STRING;
}

size_t sequence_guard_pass(struct sequence_guard *g, char byte, char out[SEQUENCE_PASS_MOST])
{
	unsigned char c = (unsigned char)byte;
	size_t n;

	g->repeat = 0;
	if (c == NUL || c == DEL) /* padding, wherever it stands */
		return 0;
	n = is_cut_off(g, c) ? cut_off(g, c, out) : 0;
	if (c == CANCEL || c == SUB)
		return n;
	if (c == ESC) {
		escape_begin(g);
		return n;
	}
	switch (g->state) {
	case SEQUENCE_TEXT:
		return n + text_pass(g, c, out + n);
	case SEQUENCE_ESCAPE:
		return n + escape_pass(g, c, out + n);
	case SEQUENCE_LEADER:
	case SEQUENCE_PARAMETERS:
	case SEQUENCE_INTERMEDIATE:
		return n + sequence_pass(g, c, out + n);
	case SEQUENCE_STRING:
		return n + string_pass(g, c, out + n);
	case SEQUENCE_SKIPPED:
		if (c == BEL)
			state_begin(g, SEQUENCE_TEXT);
	}
	return n;
}
