/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a diff (rows.h). Main thread. */
#include "src/diff/rows.h"

int rows_side(const struct keys_entry *e)
{
	return e->site[0] ? 0 : 1;
}

double rows_change(const struct rows *w, const struct keys_entry *e)
{
	return keys_mean(w->keys, e, 1, VALUE_ALLOCATED) -
	       keys_mean(w->keys, e, 0, VALUE_ALLOCATED);
}

uint32_t rows_new(struct rows *w, enum diff_match how)
{
	w->m->how[w->m->nrows] = how;
	w->change[w->m->nrows] = 0;
	return (uint32_t)w->m->nrows++;
}

void rows_join(struct rows *w, uint32_t row, uint32_t entry, enum diff_match how)
{
	w->m->row[entry] = row;
	w->change[row] += rows_change(w, &w->entries[entry]);
	if (how > w->m->how[row])
		w->m->how[row] = how;
}

void rows_left(struct rows *w)
{
	w->nleft = 0;
	for (size_t i = 0; i < w->count; i++)
		if (w->m->row[i] == ROWS_NONE)
			w->left[w->nleft++] = (uint32_t)i;
}
