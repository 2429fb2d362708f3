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

/*
 * A graph that goes about straight from one end to the other shows a trend: its scale is from the
 * least value to the largest, unless all of it is less than SPARK_FLAT of the largest. Elsewhere
 * the scale spans at least SPARK_SPAN of the largest, rounded: a ripple would look like a change,
 * and be redrawn each time.
 */
#define SPARK_FLAT 1000
#define SPARK_SPAN 4

struct spark_scale {
	uint64_t least, span;
	bool flat;
};

/* The next larger power of two, or half of it more. */
static uint64_t spark_round(uint64_t span)
{
	uint64_t power = 1;

	while (power < span && power < UINT64_MAX / 4)
		power *= 2;
	return power >= 4 && power / 4 * 3 >= span ? power / 4 * 3 : power;
}

#define SPARK_SHARE 64 /* sums of so many values do not overflow */

static uint64_t spark_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static struct spark_scale spark_scale(const uint64_t *values, unsigned n)
{
	uint64_t least = n ? values[0] : 0, most = least, way = 0;
	unsigned last = n > 2 ? n - 2 : n ? n - 1 : 0;
	struct spark_scale s;

	/* The newest value moves within its cell: it does not change the scale of the others. */
	for (unsigned i = 1; i <= last; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
		way += spark_apart(values[i], values[i - 1]) / SPARK_SHARE;
	}
	s = (struct spark_scale){ .least = least, .span = most - least };
	if (n && way <= spark_apart(values[last], values[0]) / SPARK_SHARE * 5 / 4) {
		s.flat = s.span <= most / SPARK_FLAT;
	} else if (s.span < most / SPARK_SPAN) {
		s.span = spark_round(most / SPARK_SPAN);
		s.flat = most - least <= s.span / 8;
	}
	return s;
}

bool spark_is_flat(const uint64_t *values, unsigned n)
{
	return spark_scale(values, n).flat;
}

void spark_text(const uint64_t *values, unsigned n, enum glyphs glyphs, char *out, size_t cap)
{
	const struct levels *set = &spark_levels[glyphs];
	unsigned lowest = glyphs == GLYPHS_ASCII, top = set->count - 2;
	struct spark_scale s = spark_scale(values, n);
	size_t len = 0;

	if (cap == 0)
		return;
	out[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		uint64_t above = values[i] > s.least ? values[i] - s.least : 0;
		double share = s.flat ? 0 : above < s.span ? (double)above / (double)s.span : 1;
		unsigned level = lowest + (unsigned)(share * (top - lowest) + 0.5);

		len = glyph_put(out, cap, len, set->glyph[values[i] ? level : 0]);
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
