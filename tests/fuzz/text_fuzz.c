/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of what becomes text on a terminal, under libFuzzer: text_clean and its kin,
 * name_shorten, and a program's output as lines. Beside crashes, each result is held to what its
 * header promises. The first byte picks the function, the second the size that there is.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/target/output.h"
#include "src/util/name_shorten.h"
#include "src/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define PROMISED(what)                                                                             \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static bool moves_something(uint32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/* Whole characters, none of which moves a cursor or turns the text around. */
static void must_be_clean(const char *text)
{
	size_t len = strlen(text), at = 0;

	while (at < len) {
		uint32_t code;
		size_t n = text_decode(text + at, len - at, &code);

		PROMISED(!moves_something(code) && (n > 1 || code < 0x80));
		at += n;
	}
}

static void clean(const char *in, size_t len, size_t cap)
{
	char *out = malloc(cap + 1), *copy;
	size_t n = text_clean(out, cap + 1, in, len), cells;

	PROMISED(n <= cap && strlen(out) == n);
	must_be_clean(out);
	PROMISED(text_fit(out, cap, &cells) <= n && cells <= cap);
	free(out);
	copy = text_clean_copy(in, len);
	must_be_clean(copy);
	free(copy);
}

/* A clean text in `in`, as all callers have. */
static void elide(const char *in, size_t cells, bool from_left, bool ascii)
{
	size_t cap = 4 * cells + 8, used;
	char *out = malloc(cap);

	used = text_elide(out, cap, in, cells, from_left, ascii);
	must_be_clean(out);
	PROMISED(used <= cells && text_cells(out) == used);
	PROMISED(text_cells(in) > cells || strcmp(in, out) == 0);
	free(out);
}

static void shorten(const char *in, size_t cells, bool always, bool ascii)
{
	size_t cap = strlen(in) + 4 * cells + 64, used;
	char *out = malloc(cap);

	used = name_shorten(out, cap, in, cells, always, ascii);
	must_be_clean(out);
	PROMISED(used <= cells && text_cells(out) == used);
	free(out);
	/* Less room than cells: cut, not written past. */
	out = malloc(cells + 1);
	name_shorten(out, cells + 1, in, cells, always, ascii);
	PROMISED(strlen(out) <= cells);
	must_be_clean(out);
	free(out);
}

/* In two parts, between which the window becomes another. */
static void lines(const char *in, size_t len, size_t cells)
{
	size_t first = len / 2;
	struct output *o;
	bool ended = false;
	int ends[2];

	if (len > 32768 || pipe2(ends, O_NONBLOCK) != 0)
		return;
	o = output_new(ends[0], 24, 80);
	PROMISED(write(ends[1], in, first) == (ssize_t)first);
	if (first > 0)
		output_read(o, &ended);
	output_resize(o, 1 + (int)cells % 40, 1 + (int)(cells * 7 % 200));
	PROMISED(write(ends[1], in + first, len - first) == (ssize_t)(len - first));
	close(ends[1]);
	while (!ended)
		output_read(o, &ended);
	for (size_t i = 0; i < output_lines(o); i++) {
		struct term_line line;

		output_line(o, i, &line);
		must_be_clean(line.text);
	}
	output_free(o);
	close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *in = (const char *)data + 2;
	size_t len = bytes - 2, cells;
	char *text;

	if (bytes < 2)
		return 0;
	cells = data[1];
	text = text_clean_copy(in, len);
	switch (data[0] % 4) {
	case 0:
		clean(in, len, cells);
		break;
	case 1:
		elide(text, cells, data[0] & 4, data[0] & 8);
		break;
	case 2:
		shorten(text, cells, data[0] & 4, data[0] & 8);
		break;
	default:
		lines(in, len, cells);
	}
	free(text);
	return 0;
}
