/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs one row high (sparklines and bars), in three glyph sets: blocks if the terminal has UTF-8,
 * braille on request, ASCII elsewhere. Pure; any thread.
 */
#include <string.h>
#include "src/model/columns.h"

struct levels {
	const char *const *glyph; /* from empty to full */
	unsigned count;
};

#define LEVELS(table)                                                                              \
	{                                                                                          \
		table, sizeof(table) / sizeof((table)[0])                                          \
	}

/* A sparkline: the last level is the largest value. */
static const char *const spark_blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const spark_braille[] = { "⣀", "⣤", "⣶", "⣿" };
static const char *const spark_ascii[] = { " ", ".", ":", "-", "=", "+", "*", "#" };

static const struct levels spark_levels[] = {
	[GLYPHS_BLOCKS] = LEVELS(spark_blocks),
	[GLYPHS_BRAILLE] = LEVELS(spark_braille),
	[GLYPHS_ASCII] = LEVELS(spark_ascii),
};

/* A bar: blocks fill a cell in eighths, braille in halves. */
static const char *const bar_blocks[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
static const char *const bar_braille[] = { " ", "⡇", "⣿" };
static const char *const bar_ascii[] = { " ", "|" };

static const struct levels bar_levels[] = {
	[GLYPHS_BLOCKS] = LEVELS(bar_blocks),
	[GLYPHS_BRAILLE] = LEVELS(bar_braille),
	[GLYPHS_ASCII] = LEVELS(bar_ascii),
};

/* Appends one glyph if it fits with its NUL; returns the new length. */
static size_t glyph_put(char *out, size_t cap, size_t len, const char *glyph)
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

		len = glyph_put(out, cap, len, set->glyph[level]);
	}
}

/* The ASCII set's first level is the blank. */
static unsigned spark_blanks(enum glyphs glyphs)
{
	return glyphs == GLYPHS_ASCII;
}

unsigned graphs_levels(enum glyphs glyphs)
{
	return spark_levels[glyphs].count - spark_blanks(glyphs);
}

const char *graphs_cell(enum glyphs glyphs, unsigned level)
{
	unsigned most = graphs_levels(glyphs);

	level = level < most ? level : most;
	return level ? spark_levels[glyphs].glyph[level - 1 + spark_blanks(glyphs)] : " ";
}

void bar_text(
	uint64_t part, uint64_t whole, unsigned cells, enum glyphs glyphs, char *out, size_t cap)
{
	const struct levels *set = &bar_levels[glyphs];
	unsigned steps = set->count - 1;
	double share = whole == 0 ? 0 : part >= whole ? 1 : (double)part / (double)whole;
	uint64_t filled = (uint64_t)(share * cells * steps + 0.5);
	size_t len = 0;

	if (cap == 0)
		return;
	out[0] = '\0';
	/* Show at least one step for a value that is not 0. */
	if (filled == 0 && part && whole)
		filled = 1;
	for (unsigned i = 0; i < cells; i++) {
		unsigned level = filled > steps ? steps : (unsigned)filled;

		len = glyph_put(out, cap, len, set->glyph[level]);
		filled -= level;
	}
}
