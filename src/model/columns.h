/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The site table's columns and its one row formatter, which the screen, batch frames and the text
 * report share, and its sort order. Pure functions; main thread.
 */
#ifndef SRC_MODEL_COLUMNS_H
#define SRC_MODEL_COLUMNS_H

#include "src/model/snapshot.h"

enum column {
	COL_LIVE,
	COL_ERROR,
	COL_PERCENT,
	COL_RATE,
	COL_BEFORE,
	COL_AFTER,
	COL_DELTA,
	COL_SINCE,
	COL_SINCE_BLOCKS,
	COL_SINCE_ALLOC,
	COL_SINCE_FREED,
	COL_KEPT,
	COL_TREND,
	COL_BLOCKS,
	COL_AVG,
	COL_PEAK,
	COL_AT_PEAK,
	COL_AT_PEAK_SHARE,
	COL_ALLOCS,
	COL_TEMP,
	COL_ALLOC_RATE,
	COL_BYTE_RATE,
	COL_TEMP_RATE,
	COL_TEMP_SHARE,
	COL_FREED_SHARE,
	COL_RETAINED,
	COL_TYPE,
	COL_AGE,
	COL_FAULTS,
	COL_SITES,
	COL_GROWTH,
	COL_SITE,
	COL_LINE,
	COL_COUNT
};

enum glyphs { GLYPHS_BLOCKS, GLYPHS_BRAILLE, GLYPHS_ASCII };

struct column_info {
	const char *key; /* the name for -s: "live", "percent", "rate", ... */
	const char *title; /* header, e.g. "LIVE" */
	const char *help; /* one line for -s help and the help screen */
	unsigned cells; /* fixed width; 0: the remaining width (COL_SITE) */
	bool right; /* right-aligned */
	bool descending; /* natural direction of the sort */
};

/* Sets of columns for one question each. */
enum column_set {
	COLUMNS_MEMORY, /* by the width of the screen: what holds memory */
	COLUMNS_GROWTH, /* what grows */
	COLUMNS_CHURN, /* what allocates most, however soon it is freed */
	COLUMNS_PEAK, /* what made the peak */
	COLUMNS_LEAKS, /* what is not freed */
	COLUMNS_TURNOVER, /* what is freed and replaced, and what never changes */
	COLUMNS_SETS
};

#define COLUMN_SET_MAX 12

struct column_set_info {
	const char *key; /* "memory", ... */
	enum column sort; /* its usual order */
	unsigned count; /* 0: by the width alone */
	enum column column[COLUMN_SET_MAX]; /* the most important first */
};

extern const struct column_set_info column_sets[COLUMNS_SETS];

extern const struct column_info column_table[COL_COUNT];
/* The column that `key` names, or -1. */
int column_find(const char *key);

/* How functions are named. A function without a name is shown by its address in all styles. */
enum name_style {
	NAMES_SHORT, /* shortened (src/util/name_shorten.h) */
	NAMES_FULL, /* with all template arguments and parameters */
	NAMES_MANGLED, /* as in the object file */
	NAMES_ADDRESS, /* module+offset */
	NAMES_COUNT
};
/* "short", "full", "mangled", "address". Static. */
extern const char *const name_styles[NAMES_COUNT];

struct row_style {
	enum glyphs glyphs;
	enum name_style names;
	bool show_hidden; /* true: name the site by its innermost frame, not by its title frame */
	unsigned site_cells; /* width of COL_SITE */
	unsigned line_cells; /* width of COL_LINE */
	const char *twin; /* written after the site's name: what tells it from rows of the same name
			     (twins.h); NULL: nothing */
};

#define COLUMN_TEXT_MAX 1024
/* The samples of a site that a trend of `cells` cells shows; returns how many. */
unsigned column_trend(const struct snap_site *site, unsigned cells, const uint64_t **values);
/* The text of one cell, unpadded, at most the column's width in cells. */
void column_text(enum column c, const struct snapshot *snap, const struct snap_site *site,
	const struct row_style *style, char out[COLUMN_TEXT_MAX]);
/* The same, padded on its side to exactly `cells` cells. Returns bytes. */
size_t column_cell(enum column c, const struct snapshot *snap, const struct snap_site *site,
	const struct row_style *style, unsigned cells, char out[COLUMN_TEXT_MAX]);
/*
 * A site's name: the function of its title frame, or "?? libfoo.so+0x1234" if it has none. And its
 * place: "file.c:12", or "libfoo.so" if the line is unknown.
 */
void site_name(const struct snap_site *site, const struct row_style *style, char *out, size_t cap);
void site_place(const struct snap_site *site, const struct row_style *style, char *out, size_t cap);
void frame_name(const struct frame *f, enum name_style style, unsigned cells, bool ascii, char *out,
	size_t cap);
void frame_place(const struct frame *f, unsigned cells, bool ascii, char *out, size_t cap);
/*
 * A one-row graph of `n` values, one cell each, from the least to the largest; where they hardly
 * differ, a flat line at the bottom. The top of the cells stays free, so that graphs in two rows do
 * not merge. UTF-8 or ASCII by `glyphs`.
 */
bool spark_is_flat(const uint64_t *values, unsigned n);
void spark_text(const uint64_t *values, unsigned n, enum glyphs glyphs, char *out, size_t cap);
/* Cells of taller graphs: how many levels a cell has, and one filled from below to a level of them;
 * 0: blank. */
unsigned graphs_levels(enum glyphs glyphs);
const char *graphs_cell(enum glyphs glyphs, unsigned level);
/* A bar of `cells` cells, `part` of `whole` filled, eighths where the glyph set has them. */
void bar_text(
	uint64_t part, uint64_t whole, unsigned cells, enum glyphs glyphs, char *out, size_t cap);

/*
 * Fills `order` (capacity snap->nsites) with site indices sorted by `column`; ties by live bytes,
 * then by id, so that equal rows never swap places. `reverse` reverses the natural direction.
 */
void sites_sort(const struct snapshot *snap, enum column column, bool reverse, uint32_t *order);

#endif
