/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Histograms as lines (histogram.h). Called by Site detail and Sizes for each visible line, on the
 * main thread.
 */
#include "tui/histogram.h"

#include <stdio.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/infoline.h"

#define LABEL_CELLS  9
#define NUMBER_CELLS 15
#define BYTES_CELLS  8 /* of live bytes, if there is room for them */
#define BYTES_WIDTH  54 /* with fewer cells there is no room for them */
#define BAR_MOST     40

/* The buckets shown: from the first to the last that is not empty. */
struct span {
	unsigned first, count;
};

static void span_add(struct span *s, unsigned i, bool holds)
{
	if (!holds)
		return;
	if (!s->count)
		s->first = i;
	s->count = i - s->first + 1;
}

static struct span size_span(const struct histogram *h)
{
	struct span s = { 0, 0 };

	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		span_add(&s, i, h->sizes[i].allocs || h->sizes[i].live_blocks);
	return s;
}

static struct span life_span(const struct histogram *h)
{
	struct span s = { 0, 0 };

	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		span_add(&s, i, h->lifetimes[i] != 0);
	return s;
}

size_t histogram_size_lines(const struct histogram *h)
{
	struct span size = size_span(h);

	return 1 + (size.count ? size.count : 1);
}

size_t histogram_lines(const struct histogram *h)
{
	struct span size = size_span(h), life = life_span(h);

	return 2 + (size.count ? size.count : 1) + (life.count ? life.count : 1);
}

/* Label, bar and numbers; `numbers` is `number_cells` wide. */
static void bar_draw(int y, int x, unsigned cells, const char *label, uint64_t part, uint64_t whole,
	const char *numbers, unsigned number_cells, enum draw_style style)
{
	unsigned bar_cells =
		cells > LABEL_CELLS + number_cells + 3 ? cells - LABEL_CELLS - number_cells - 3 : 0;
	char bar[INFOLINE_TEXT];
	unsigned pad = (unsigned)text_cells(label);

	pad = pad < LABEL_CELLS ? LABEL_CELLS - pad : 0;
	draw_text(y, x + (int)pad, LABEL_CELLS, STYLE_PLAIN, label);
	bar_text(part, whole, bar_cells > BAR_MOST ? BAR_MOST : bar_cells, draw_glyph_set(), bar,
		sizeof(bar));
	draw_text(y, x + LABEL_CELLS + 1, bar_cells, style, bar);
	draw_text(y, x + (int)(cells - number_cells - 1), number_cells, STYLE_PLAIN, numbers);
}

/* Bytes are known for the program, not for a single site. */
static bool size_has_bytes(const struct histogram *h, unsigned cells)
{
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		if (h->sizes[i].live_bytes)
			return cells >= BYTES_WIDTH;
	return false;
}

static void size_draw(const struct histogram *h, unsigned bucket, int y, int x, unsigned cells)
{
	const struct snap_size *sizes = h->sizes;
	char label[UNITS_MAX + 8], numbers[UNITS_MAX * 3], a[UNITS_MAX], b[UNITS_MAX];
	unsigned number_cells = NUMBER_CELLS;
	bool bytes = size_has_bytes(h, cells);
	uint64_t most_live = 0, most = 0;
	int used = 0;
	bool live;

	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		most_live = sizes[i].live_blocks > most_live ? sizes[i].live_blocks : most_live;
		most = sizes[i].allocs > most ? sizes[i].allocs : most;
	}
	/* If no block is live, the bars show all blocks ever allocated. */
	live = most_live && !h->in_range;
	if (bucket == SNAP_SIZE_BUCKETS - 1)
		snprintf(label, sizeof(label), "larger");
	else
		snprintf(label, sizeof(label), "%s%s", draw_glyph(GLYPH_AT_MOST),
			units_bytes(a, snap_size_le(bucket)));
	if (bytes) {
		used = snprintf(numbers, sizeof(numbers), "%*s", BYTES_CELLS,
			units_bytes(a, sizes[bucket].live_bytes));
		number_cells += BYTES_CELLS;
	}
	used += snprintf(numbers + used, sizeof(numbers) - (size_t)used, "%*s", bytes ? 8 : 6,
		units_count(a, sizes[bucket].live_blocks));
	if (h->in_range)
		snprintf(numbers, sizeof(numbers), "%*s", NUMBER_CELLS,
			units_count(a, sizes[bucket].allocs));
	else if (!h->live_only)
		snprintf(numbers + used, sizeof(numbers) - (size_t)used, " / %6s",
			units_count(b, sizes[bucket].allocs));
	bar_draw(y, x, cells, label, live ? sizes[bucket].live_blocks : sizes[bucket].allocs,
		live ? most_live : most, numbers, number_cells + (bytes ? 2 : 0),
		live ? STYLE_GOOD : STYLE_DIM);
}

static void life_draw(const struct histogram *h, unsigned bucket, int y, int x, unsigned cells)
{
	char label[UNITS_MAX + 8], numbers[UNITS_MAX * 3], a[UNITS_MAX], b[UNITS_MAX];
	uint64_t most = 0, sum = 0;

	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++) {
		most = h->lifetimes[i] > most ? h->lifetimes[i] : most;
		sum += h->lifetimes[i];
	}
	if (bucket == SNAP_LIFE_BUCKETS - 1)
		snprintf(label, sizeof(label), "longer");
	else
		snprintf(label, sizeof(label), "<%s", units_duration(a, snap_life_le_ns(bucket)));
	snprintf(numbers, sizeof(numbers), "%6s %7s%%", units_count(a, h->lifetimes[bucket]),
		units_percent(b, h->lifetimes[bucket], sum));
	bar_draw(y, x, cells, label, h->lifetimes[bucket], most, numbers, NUMBER_CELLS, STYLE_INFO);
}

void histogram_draw(const struct histogram *h, size_t i, int y, int x, unsigned cells)
{
	struct span size = size_span(h), life = life_span(h);
	size_t size_lines = size.count ? size.count : 1;

	if (i == 0)
		draw_rule(y, x, cells,
			h->in_range		   ? "BLOCK SIZE: blocks allocated in the range"
			: h->live_only		   ? "BLOCK SIZE: live bytes, live blocks"
			: size_has_bytes(h, cells) ? "BLOCK SIZE: live bytes, live / all blocks"
						   : "BLOCK SIZE: live / all");
	else if (i <= size_lines && size.count)
		size_draw(h, size.first + (unsigned)(i - 1), y, x, cells);
	else if (i == size_lines + 1)
		draw_rule(y, x, cells,
			h->in_range ? "LIFETIME of blocks freed in the range"
				    : "LIFETIME of freed blocks");
	else if (i > size_lines + 1 && life.count)
		life_draw(h, life.first + (unsigned)(i - size_lines - 2), y, x, cells);
	else
		draw_text(y, x + 2, cells - 2, STYLE_DIM, h->known ? "none yet" : "unknown");
}
