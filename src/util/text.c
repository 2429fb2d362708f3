/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes foreign text safe for a terminal, and measures it. Readers of segments, /proc and object
 * files call text_clean before they pass a string on; the screen and the row formatter call the
 * rest. Any thread, no state.
 */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "src/util/text.h"

#define TEXT_REPLACEMENT 0xfffdu
#define TEXT_ELLIPSIS	 "\xe2\x80\xa6"

/*
 * Characters that must not reach a terminal: controls, and those of Unicode's category Cf and
 * similar ones that draw nothing or change the direction of the text after them, so that one name
 * looks like another. Combining marks stay: languages need them. Sorted.
 */
static const struct {
	uint32_t first, last;
} text_unsafe[] = {
	{ 0x0000, 0x001f }, /* C0 */
	{ 0x007f, 0x009f }, /* DEL, C1 */
	{ 0x00ad, 0x00ad }, /* soft hyphen */
	{ 0x034f, 0x034f }, /* grapheme joiner */
	{ 0x061c, 0x061c }, /* Arabic letter mark */
	{ 0x115f, 0x1160 }, /* Hangul fillers */
	{ 0x17b4, 0x17b5 }, /* Khmer inherent vowels */
	{ 0x180b, 0x180f }, /* Mongolian selectors and vowel separator */
	{ 0x200b, 0x200f }, /* zero-width space, joiners, direction marks */
	{ 0x2028, 0x202e }, /* line, paragraph separator, bidi embeddings and overrides */
	{ 0x2060, 0x206f }, /* word joiner, invisible operators, bidi isolates */
	{ 0x3164, 0x3164 }, /* Hangul filler */
	{ 0xfdd0, 0xfdef }, /* noncharacters */
	{ 0xfe00, 0xfe0f }, /* variation selectors */
	{ 0xfeff, 0xfeff }, /* byte order mark */
	{ 0xffa0, 0xffa0 }, /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb }, /* unassigned, interlinear annotation */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe0fff }, /* tags, variation selectors */
};

static bool text_is_unsafe(uint32_t code)
{
	size_t low = 0, high = sizeof(text_unsafe) / sizeof(text_unsafe[0]);

	if (code >= 0x20 && code < 0x7f)
		return false;
	if ((code & 0xfffe) == 0xfffe) /* the last two of every plane are noncharacters */
		return true;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (code < text_unsafe[mid].first)
			high = mid;
		else if (code > text_unsafe[mid].last)
			low = mid + 1;
		else
			return true;
	}
	return false;
}

/*
 * Well-formed sequences only, by Table 3-7 of the Unicode Standard (no overlong forms, no
 * surrogates, nothing above U+10FFFF): the second byte's range depends on the first, the rest are
 * 80-BF.
 */
static size_t text_sequence(const unsigned char *in, unsigned char *low, unsigned char *high)
{
	unsigned char c = in[0];

	*low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	*high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	if (c >= 0xf0 && c <= 0xf4)
		return 4;
	return 0;
}

size_t text_decode(const char *in, size_t len, uint32_t *code)
{
	const unsigned char *b = (const unsigned char *)in;
	unsigned char low, high;
	uint32_t value;
	size_t n;

	*code = TEXT_REPLACEMENT;
	if (len == 0)
		return 0;
	if (b[0] < 0x80) {
		*code = b[0];
		return 1;
	}
	n = text_sequence(b, &low, &high);
	if (n == 0 || n > len || b[1] < low || b[1] > high)
		return 1;
	value = (b[0] & (0x7fu >> n)) << 6 | (b[1] & 0x3fu);
	for (size_t i = 2; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (b[i] & 0x3fu);
	}
	*code = value;
	return n;
}

size_t text_clean(char *out, size_t cap, const char *in, size_t len)
{
	size_t at = 0, used = 0;

	if (cap == 0)
		return 0;
	while (at < len) {
		uint32_t code;
		size_t n = text_decode(in + at, len - at, &code);
		bool bad = text_is_unsafe(code) || (n == 1 && code == TEXT_REPLACEMENT);
		size_t need = bad ? 1 : n;

		if (used + need >= cap)
			break;
		memcpy(out + used, bad ? "?" : in + at, need);
		used += need;
		at += n;
	}
	out[used] = '\0';
	return used;
}

/* Cells of one character, as ncurses counts; 1 if the locale has no width for it. */
static size_t text_width(uint32_t code)
{
	int w;

	if (code >= 0x20 && code < 0x7f)
		return 1;
	w = wcwidth((wchar_t)code);
	return w < 0 ? 1 : (size_t)w;
}

size_t text_fit(const char *text, size_t cells, size_t *used)
{
	size_t len = strlen(text), at = 0, sum = 0;

	while (at < len) {
		uint32_t code;
		size_t n = text_decode(text + at, len - at, &code);
		size_t w = text_width(code);

		if (sum + w > cells)
			break;
		sum += w;
		at += n;
	}
	if (used)
		*used = sum;
	return at;
}

size_t text_cells(const char *text)
{
	size_t used;

	text_fit(text, SIZE_MAX / 2, &used);
	return used;
}

size_t text_line(const char *text, size_t cells)
{
	size_t fit = text_fit(text, cells, NULL), at = fit;

	if (!text[fit])
		return fit;
	while (at > 0 && text[at] != ' ')
		at--;
	return at ? at : fit ? fit : 1;
}

/* The longest tail that takes at most `cells`; *used gets its cells. */
static const char *text_tail(const char *text, size_t cells, size_t *used)
{
	size_t total = text_cells(text), len = strlen(text);

	while (*text && total > cells) {
		uint32_t code;
		size_t n = text_decode(text, len, &code);

		total -= text_width(code);
		text += n;
		len -= n;
	}
	/* A combining mark whose base was cut would combine with the ellipsis. */
	while (*text) {
		uint32_t code;
		size_t n = text_decode(text, len, &code);

		if (text_width(code) != 0)
			break;
		text += n;
		len -= n;
	}
	*used = total;
	return text;
}

/* Bytes of the longest prefix of whole characters that is shorter than `cap`. */
static size_t text_whole(const char *text, size_t len, size_t cap)
{
	size_t at = 0;

	while (at < len) {
		uint32_t code;
		size_t n = text_decode(text + at, len - at, &code);

		if (at + n >= cap)
			break;
		at += n;
	}
	return at;
}

/* Copies as many whole characters as fit; returns their cells. */
static size_t text_copy(char *out, size_t cap, const char *text, size_t len)
{
	size_t n = text_whole(text, len, cap);

	memcpy(out, text, n);
	out[n] = '\0';
	return text_cells(out);
}

size_t text_elide(char *out, size_t cap, const char *text, size_t cells, bool from_left, bool ascii)
{
	const char *mark = !ascii ? TEXT_ELLIPSIS : from_left ? "." : "~";
	size_t mark_bytes = strlen(mark), len = strlen(text), used, fit;

	if (cap == 0)
		return 0;
	if (text_fit(text, cells, NULL) == len)
		return text_copy(out, cap, text, len);
	out[0] = '\0';
	if (cells == 0 || cap <= mark_bytes)
		return 0;
	if (from_left) {
		const char *tail = text_tail(text, cells - 1, &used);

		memcpy(out, mark, mark_bytes);
		return 1 + text_copy(out + mark_bytes, cap - mark_bytes, tail, strlen(tail));
	}
	fit = text_whole(text, text_fit(text, cells - 1, NULL), cap - mark_bytes);
	used = text_copy(out, cap, text, fit);
	memcpy(out + fit, mark, mark_bytes + 1);
	return used + 1;
}

size_t text_elide_parts(char *out, size_t cap, const char *text, size_t cells, bool ascii)
{
	size_t fit = text_cells(text) > cells && cells > 2 ? text_fit(text, cells - 2, NULL) : 0;

	while (fit > 0 && strncmp(text + fit, "  ", 2) != 0)
		fit--;
	while (fit > 0 && text[fit - 1] == ' ')
		fit--;
	if (fit == 0 || fit + sizeof(" …") > cap)
		return text_elide(out, cap, text, cells, false, ascii);
	memcpy(out, text, fit);
	strcpy(out + fit, ascii ? " ~" : " …");
	return text_cells(out);
}

void text_unfold(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || strchr("\n\r\t\v\f", text[i]))
			text[i] = ' ';
}

char *text_clean_copy(const char *in, size_t len)
{
	char *out = malloc(len + 1); /* a replacement is never longer than the character */

	if (out)
		text_clean(out, len + 1, in, len);
	return out;
}
