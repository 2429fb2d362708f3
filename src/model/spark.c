/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph one row high, in the three glyph sets: blocks where the terminal has UTF-8, braille on
 * wish, ASCII everywhere else. Pure; any thread.
 */
#include <string.h>
#include "src/model/columns.h"

/* From empty to full. A set of n levels shows the largest value by its last. */
static const char *const spark_blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const spark_braille[] = { "⣀", "⣤", "⣶", "⣿" };
static const char *const spark_ascii[] = { " ", ".", ":", "-", "=", "+", "*", "#" };

struct levels {
	const char *const *glyph;
	unsigned count;
};

#define LEVELS(table)                                                                              \
	{                                                                                          \
		table, sizeof(table) / sizeof((table)[0])                                          \
	}

static const struct levels spark_levels[] = {
	[GLYPHS_BLOCKS] = LEVELS(spark_blocks),
	[GLYPHS_BRAILLE] = LEVELS(spark_braille),
	[GLYPHS_ASCII] = LEVELS(spark_ascii),
};

/* Appends one glyph if it fits with its NUL; returns the new length. */
static size_t spark_put(char *out, size_t cap, size_t len, const char *glyph)
{
	size_t n = strlen(glyph);

	if (len + n >= cap)
		return len;
	memcpy(out + len, glyph, n + 1);
	return len + n;
}

void spark_text(const uint64_t *values, unsigned n, enum glyphs glyphs, char *out, size_t cap)
{
	const struct levels *set = &spark_levels[glyphs];
	uint64_t max = 0;
	size_t len = 0;

	if (cap == 0)
		return;
	out[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		max = values[i] > max ? values[i] : max;
	for (unsigned i = 0; i < n; i++) {
		double share = max ? (double)values[i] / (double)max : 0;
		unsigned level = (unsigned)(share * (set->count - 1) + 0.5);

		len = spark_put(out, cap, len, set->glyph[level]);
	}
}
