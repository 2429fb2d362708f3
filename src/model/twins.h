/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows that look the same: call sites whose names and places are equal, and what tells them apart,
 * which is a template frame below the name, a caller, or the allocating function; and where that is
 * not enough, an address. Pure; main thread.
 */
#ifndef SRC_MODEL_TWINS_H
#define SRC_MODEL_TWINS_H

#include "src/model/columns.h"

#define TWINS_ROWS 160 /* more than the tallest screen shows */
#define TWINS_TEXT 160

enum twins_kind { TWINS_NONE, TWINS_INNER, TWINS_CALLER, TWINS_FUNCTION };

struct twin {
	uint64_t key; /* of its name and place */
	const struct snap_site *site;
	size_t row;
	enum twins_kind kind;
	uint32_t frame; /* the frame that differs */
	bool line; /* its line, not its function, differs */
	bool whole; /* one template argument is not enough */
	size_t scope; /* bytes at the end of the caller's name that another caller's has, too */
	uint64_t said; /* hash of what is said of it without an address */
	bool address; /* none of that is enough: the address of frame `at` is */
	uint32_t at;
};

struct twins {
	struct twin twin[TWINS_ROWS]; /* by row */
	size_t count;
	bool show_hidden; /* names are those of the innermost frames */
};

/*
 * Compares rows [from, to) of those that `order` lists, at most TWINS_ROWS. Groups of sites are
 * left out: they have one name each. Valid as long as the snapshot.
 */
void twins_find(struct twins *t, const struct snapshot *snap, const uint32_t *order, size_t from,
	size_t to, bool show_hidden);
/* The same of `n` sites, at most TWINS_ROWS; row i is site[i], or none if that is NULL. */
void twins_find_sites(
	struct twins *t, const struct snap_site *const *site, size_t n, bool show_hidden);
/* What tells the row apart: "‹make_shared<Conn>›", "← handle:41", "‹0x2a41›"; or NULL. */
const char *twins_text(const struct twins *t, size_t row, enum glyphs glyphs, char out[TWINS_TEXT]);
/* The same for rows [0, to) of a list, asked for one after another: finds those ahead, too. */
const char *twins_row(struct twins *t, const struct snapshot *snap, const uint32_t *order,
	size_t row, size_t to, const struct row_style *style, char out[TWINS_TEXT]);

#endif
