/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a diff while entries come together in them (match.h). Main thread. */
#ifndef SRC_DIFF_ROWS_H
#define SRC_DIFF_ROWS_H

#include "src/diff/keys.h"
#include "src/diff/ways.h"

#define ROWS_NONE UINT32_MAX

struct match {
	uint32_t *row; /* of each entry; when they are made, all have one */
	enum diff_match *how; /* of each row: the last way by which an entry came to it */
	size_t nrows;
};

struct rows {
	const struct keys *keys;
	const struct keys_entry *entries;
	size_t count;
	struct match *m; /* row[]: ROWS_NONE until the entry has one; room for `count` rows */
	uint32_t *left; /* entries without a row, as of rows_left */
	size_t nleft;
	double *change; /* of each row: rows_change of its entries */
};

/* 0 or 1: the side of an entry that is on one side only; 0 of others. */
int rows_side(const struct keys_entry *e);
/* What B allocated more than A. */
double rows_change(const struct rows *w, const struct keys_entry *e);
/* A new row, without entries. */
uint32_t rows_new(struct rows *w, enum diff_match how);
/* Adds an entry without a row. */
void rows_join(struct rows *w, uint32_t row, uint32_t entry, enum diff_match how);
/* Collects the entries that have no row. */
void rows_left(struct rows *w);

#endif
