/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which call sites of two builds are the same (match.h). Main thread. */
#include "src/diff/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "src/diff/figures.h"

#define PREFIX_LEAST 2u /* frames; the innermost alone may be an allocator of the program's own */
#define PART_LEAST   2u /* frames */
/* What may remain of a row's change when an entry joins it, as a part of the larger change. */
#define REST_MAX    0.25
#define RELATED_MAX 64u /* entries that are compared with each other */
/* Stacks that are compared with all others of the other side; with more the way is left out. */
#define PART_PAIRS_MAX UINT64_C(4000000)

static bool both_sides(const struct rows *w, const uint32_t *entries, size_t n, size_t of[2])
{
	of[0] = of[1] = 0;
	for (size_t i = 0; i < n; i++)
		if (w->m->row[entries[i]] == ROWS_NONE)
			of[rows_side(&w->entries[entries[i]])]++;
	return of[0] && of[1];
}

/* One row of those that have none yet. */
static void range_join(struct rows *w, const uint32_t *entries, size_t n, enum diff_match how)
{
	uint32_t row = rows_new(w, how);

	for (size_t i = 0; i < n; i++)
		if (w->m->row[entries[i]] == ROWS_NONE)
			rows_join(w, row, entries[i], how);
}

/* ---- equal stacks ---- */

static void equal_join(struct rows *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->entries[i].site[0] && w->entries[i].site[1])
			rows_join(w, rows_new(w, DIFF_BY_STACK), (uint32_t)i, DIFF_BY_STACK);
}

/* ---- stacks with frames left out ---- */

/* Whether `part` is `whole` without some frames. */
static bool is_part(const struct keys_names *part, const struct keys_names *whole)
{
	uint32_t have = 0;

	if (part->count > whole->count || 2 * part->count < whole->count)
		return false;
	for (uint32_t i = 0; i < whole->count && have < part->count; i++)
		have += part->names[have] == whole->names[i];
	return have == part->count;
}

/* `whole`: with the frames of allocators and standard libraries, too. */
static bool related(const struct keys_entry *x, const struct keys_entry *y, bool whole)
{
	if (whole)
		return is_part(&x->all, &y->all) || is_part(&y->all, &x->all);
	return is_part(&x->own, &y->own) || is_part(&y->own, &x->own);
}

/* ---- equal inner frames ---- */

static int own_compare(const struct keys_names *x, const struct keys_names *y)
{
	uint32_t n = x->count < y->count ? x->count : y->count;

	for (uint32_t i = 0; i < n; i++)
		if (x->names[i] != y->names[i])
			return strcmp(x->names[i], y->names[i]);
	return x->count < y->count ? -1 : x->count > y->count;
}

static int left_compare(const void *x, const void *y, void *ctx)
{
	const struct rows *w = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct keys_entry *one = &w->entries[a], *other = &w->entries[b];
	int order = own_compare(&one->own, &other->own);

	order = order ? order : (*one->entry != '\0') - (*other->entry != '\0');
	order = order ? order : strcmp(one->all.names[0], other->all.names[0]);
	order = order ? order : strcmp(one->entry, other->entry);
	return order ? order : a < b ? -1 : a > b;
}

/* Entries of `left` from `at` on, up to `end`, that have the same frame at `depth`, or none. */
static size_t same_frame(const struct rows *w, size_t at, size_t end, uint32_t depth)
{
	const struct keys_names *first = &w->entries[w->left[at]].own;
	size_t to = at + 1;

	for (; to < end; to++) {
		const struct keys_names *own = &w->entries[w->left[to]].own;

		if ((own->count > depth) != (first->count > depth) ||
			(first->count > depth && own->names[depth] != first->names[depth]))
			break;
	}
	return to;
}

/* Whether two entries call the same of a library (level 0), allocate by the same function (1), or
 * both by a library, or both by themselves (2). */
static bool same_call(const struct keys_entry *x, const struct keys_entry *y, int level)
{
	if (level == 0)
		return x->all.names[0] == y->all.names[0] && x->entry == y->entry;
	if ((*x->entry == '\0') != (*y->entry == '\0'))
		return false;
	return level == 2 || x->all.names[0] == y->all.names[0];
}

/* The sorted entries from `at` to `end` have the same own frames. */
static void own_join(struct rows *w, size_t at, size_t end)
{
	size_t of[2], to;

	for (int level = 0; level < 3; level++)
		for (size_t from = at; from < end; from = to) {
			const struct keys_entry *first = &w->entries[w->left[from]];

			for (to = from + 1;
				to < end && same_call(first, &w->entries[w->left[to]], level); to++)
				;
			if (both_sides(w, w->left + from, to - from, of))
				range_join(w, w->left + from, to - from, DIFF_BY_OWN_STACK);
		}
}

static void own_all_join(struct rows *w)
{
	size_t to;

	rows_left(w);
	qsort_r(w->left, w->nleft, sizeof(*w->left), left_compare, w);
	for (size_t at = 0; at < w->nleft; at = to) {
		const struct keys_names *own = &w->entries[w->left[at]].own;

		for (to = at + 1;
			to < w->nleft && own_compare(own, &w->entries[w->left[to]].own) == 0; to++)
			;
		own_join(w, at, to);
	}
}

/* Whether each entry without a row has one on the other side that only lacks frames, or has more.
 */
static bool all_related(const struct rows *w, const uint32_t *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct keys_entry *e = &w->entries[entries[i]];
		bool found = w->m->row[entries[i]] != ROWS_NONE;

		for (size_t k = 0; !found && k < n && n <= RELATED_MAX; k++) {
			const struct keys_entry *other = &w->entries[entries[k]];

			found = w->m->row[entries[k]] == ROWS_NONE &&
				rows_side(other) != rows_side(e) && related(e, other, true);
		}
		if (!found)
			return false;
	}
	return true;
}

/*
 * The sorted entries from `at` to `end` have `depth` inner frames in common: matches those that
 * have more first.
 */
static void prefix_join(struct rows *w, size_t at, size_t end, uint32_t depth)
{
	size_t of[2];

	if (end - at < 2)
		return;
	for (size_t from = at; from < end;) {
		size_t to = same_frame(w, from, end, depth);

		if (w->entries[w->left[from]].own.count > depth)
			prefix_join(w, from, to, depth + 1);
		from = to;
	}
	if (depth >= PREFIX_LEAST && both_sides(w, w->left + at, end - at, of))
		range_join(w, w->left + at, end - at,
			all_related(w, w->left + at, end - at) ? DIFF_BY_PART : DIFF_BY_PREFIX);
}

/* ---- parts ---- */

static uint32_t frames_apart(const struct keys_entry *x, const struct keys_entry *y)
{
	return x->own.count < y->own.count ? y->own.count - x->own.count
					   : x->own.count - y->own.count;
}

/* Whether the entry's change and that of the other one, or of its row, cancel each other out,
 * mostly. */
static bool evens_out(const struct rows *w, uint32_t entry, uint32_t other)
{
	uint32_t row = w->m->row[other];
	double own = rows_change(w, &w->entries[entry]);
	double there = row == ROWS_NONE ? rows_change(w, &w->entries[other]) : w->change[row];

	return fabs(there + own) <= REST_MAX * fmax(fabs(there), fabs(own));
}

/* A single frame, which may be main, proves little. */
static bool proves_little(const struct keys_entry *x, const struct keys_entry *y)
{
	return x->own.count < PART_LEAST || y->own.count < PART_LEAST;
}

/* The nearest entry that it is a part of, or that is a part of it; of several, the one whose figure
 * is nearest. */
static uint32_t part_find(const struct rows *w, uint32_t entry, bool whole)
{
	const struct keys_entry *e = &w->entries[entry];
	uint32_t found = ROWS_NONE, least = UINT32_MAX;
	double rest = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct keys_entry *other = &w->entries[i];
		uint32_t apart = frames_apart(e, other);
		double left = fabs(rows_change(w, e) + rows_change(w, other));

		if (i == entry || !other->site[1 - rows_side(e)] || apart > least ||
			(apart == least && left >= rest) || !related(e, other, whole) ||
			((w->m->row[i] != ROWS_NONE || proves_little(e, other)) &&
				!evens_out(w, entry, (uint32_t)i)))
			continue;
		least = apart;
		rest = left;
		found = (uint32_t)i;
	}
	return found;
}

static void part_join(struct rows *w, bool whole)
{
	rows_left(w);
	if ((uint64_t)w->nleft * w->count > PART_PAIRS_MAX)
		return;
	for (size_t i = 0; i < w->nleft; i++) {
		uint32_t entry = w->left[i], other;

		if (w->m->row[entry] != ROWS_NONE)
			continue;
		other = part_find(w, entry, whole);
		if (other == ROWS_NONE)
			continue;
		if (w->m->row[other] == ROWS_NONE)
			rows_join(w, rows_new(w, DIFF_BY_PART), other, DIFF_BY_PART);
		rows_join(w, w->m->row[other], entry, DIFF_BY_PART);
	}
}

/* ---- function and file ---- */

static int place_compare(const void *x, const void *y, void *ctx)
{
	const struct rows *w = ctx;
	const struct keys_entry *a = &w->entries[*(const uint32_t *)x];
	const struct keys_entry *b = &w->entries[*(const uint32_t *)y];
	int order = strcmp(a->function, b->function);

	return order ? order : strcmp(a->file, b->file);
}

static void function_join(struct rows *w)
{
	size_t to, of[2];

	rows_left(w);
	qsort_r(w->left, w->nleft, sizeof(*w->left), place_compare, w);
	for (size_t at = 0; at < w->nleft; at = to) {
		for (to = at + 1;
			to < w->nleft && place_compare(&w->left[at], &w->left[to], w) == 0; to++)
			;
		if (both_sides(w, w->left + at, to - at, of) && (of[0] == 1 || of[1] == 1))
			range_join(w, w->left + at, to - at, DIFF_BY_FUNCTION);
	}
}

/* ---- all of it ---- */

static void rest_join(struct rows *w)
{
	rows_left(w);
	for (size_t i = 0; i < w->nleft; i++)
		rows_join(w, rows_new(w, DIFF_UNMATCHED), w->left[i], DIFF_UNMATCHED);
}

bool match_make(struct match *m, const struct keys *k)
{
	struct rows w = { .keys = k, .m = m };
	size_t n;

	w.entries = keys_entries(k, &w.count);
	n = w.count ? w.count : 1;
	*m = (struct match){ .row = malloc(n * sizeof(*m->row)),
		.how = calloc(n, sizeof(*m->how)) };
	w.left = malloc(n * sizeof(*w.left));
	w.change = malloc(n * sizeof(*w.change));
	if (m->row && m->how && w.left && w.change) {
		memset(m->row, 0xff, n * sizeof(*m->row));
		equal_join(&w);
		own_all_join(&w);
		figures_join(&w);
		rows_left(&w);
		qsort_r(w.left, w.nleft, sizeof(*w.left), left_compare, &w);
		prefix_join(&w, 0, w.nleft, 0);
		part_join(&w, true);
		part_join(&w, false);
		function_join(&w);
		rest_join(&w);
		figures_merge(&w);
	} else {
		match_free(m);
	}
	free(w.left);
	free(w.change);
	return m->row != NULL;
}

void match_free(struct match *m)
{
	free(m->row);
	free(m->how);
	*m = (struct match){ 0 };
}
