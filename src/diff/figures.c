/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matches by figures (figures.h). Main thread. */
#include "src/diff/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX  256u /* stacks with more are compared by none of this */
#define PAIRS_MAX   48u /* entries of a side that are compared with each other */
#define CHANGED_MAX 512u /* rows that are compared with each other */
/* Comparisons of two frames that all rows together may need, and before them all entries: they take
 * some tenths of a second. Two that need more than the rest are not compared; the largest changes
 * come first. */
#define STEPS_MAX UINT64_C(100000000)

/* ---- stacks ---- */

/* The number of frames that both have, in order. */
static uint32_t common(const struct keys_names *x, const struct keys_names *y)
{
	static uint16_t most[FRAMES_MAX + 1]; /* with as many frames of y */

	if (x->count > FRAMES_MAX || y->count > FRAMES_MAX)
		return 0;
	memset(most, 0, (y->count + 1u) * sizeof(*most));
	for (uint32_t i = 0; i < x->count; i++) {
		uint16_t before = 0; /* most[j], one frame of x ago */

		for (uint32_t j = 0; j < y->count; j++) {
			uint16_t was = most[j + 1];

			if (x->names[i] == y->names[j])
				most[j + 1] = (uint16_t)(before + 1);
			else if (was < most[j])
				most[j + 1] = most[j];
			before = was;
		}
	}
	return most[y->count];
}

/* A gap between common frames: frames of which stack. */
enum { GAP_NONE, GAP_X, GAP_Y, GAPS };

static void raise_to(uint16_t *most, unsigned value)
{
	if (*most < value)
		*most = (uint16_t)value;
}

/* From frames i of x and j of y on, with `most` (1 + common frames so far, 0: no way) by gap. */
static void step(const struct keys_names *x, const struct keys_names *y, uint32_t i, uint32_t j,
	uint16_t (*row)[GAPS], uint16_t (*next)[GAPS])
{
	bool same = i < x->count && j < y->count && x->names[i] == y->names[j];

	for (unsigned gap = 0; gap < GAPS; gap++) {
		unsigned most = row[j][gap];

		if (most == 0)
			continue;
		if (same)
			raise_to(&next[j + 1][GAP_NONE], most + 1);
		if (i < x->count && gap != GAP_Y)
			raise_to(&next[j][GAP_X], most);
		if (j < y->count && gap != GAP_X)
			raise_to(&row[j + 1][GAP_Y], most);
	}
}

/* The same, but between two common frames only one of the stacks has any. 0: not so. */
static uint32_t common_apart(const struct keys_names *x, const struct keys_names *y)
{
	static uint16_t rows[2][FRAMES_MAX + 2][GAPS];
	uint16_t most = 0;

	if (x->count > FRAMES_MAX || y->count > FRAMES_MAX)
		return 0;
	memset(rows[0], 0, sizeof(rows[0]));
	rows[0][0][GAP_NONE] = 1;
	for (uint32_t i = 0; i <= x->count; i++) {
		memset(rows[(i + 1) % 2], 0, sizeof(rows[0]));
		for (uint32_t j = 0; j <= y->count; j++)
			step(x, y, i, j, rows[i % 2], rows[(i + 1) % 2]);
	}
	for (unsigned gap = 0; gap < GAPS; gap++)
		raise_to(&most, rows[x->count % 2][y->count][gap]);
	return most ? most - 1u : 0;
}

static uint32_t longer(const struct keys_names *x, const struct keys_names *y)
{
	return x->count > y->count ? x->count : y->count;
}

/* The number of frames that one of them lacks; UINT32_MAX: they are not the same call site. */
static uint32_t apart(const struct keys_entry *x, const struct keys_entry *y)
{
	uint32_t both = common_apart(&x->all, &y->all);

	if (2 * both <= longer(&x->all, &y->all))
		return UINT32_MAX;
	return x->all.count + y->all.count - 2 * both;
}

/* Names as bits, several of which may share one. */
struct name_set {
	uint64_t bits[16];
};

static unsigned name_bit(const char *name)
{
	return (unsigned)((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

static void name_set_fill(struct name_set *set, const struct keys_names *names)
{
	*set = (struct name_set){ 0 };
	for (uint32_t i = 0; i < names->count; i++) {
		unsigned bit = name_bit(names->names[i]);

		set->bits[bit / 64] |= UINT64_C(1) << bit % 64;
	}
}

/* False: fewer than half of the frames are in common, so that `apart` need not be asked. */
static bool may_be_same(
	const struct keys_names *x, const struct keys_names *y, const struct name_set *of_y)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < x->count; i++) {
		unsigned bit = name_bit(x->names[i]);

		found += of_y->bits[bit / 64] >> bit % 64 & 1;
	}
	return 2 * (found < y->count ? found : y->count) > longer(x, y);
}

/* Whether one may be a part of the other that another compiler kept separate. */
static bool alike(const struct keys_entry *x, const struct keys_entry *y)
{
	uint32_t both = common(&x->all, &y->all), of = longer(&x->all, &y->all);

	return 4 * both >= 3 * of || (2 * both > of && apart(x, y) != UINT32_MAX);
}

/* ---- entries ---- */

static double allocs_change(const struct rows *w, const struct keys_entry *e)
{
	return keys_mean(w->keys, e, 1, VALUE_ALLOCS) - keys_mean(w->keys, e, 0, VALUE_ALLOCS);
}

/* By figures, then by side. */
static int left_compare(const void *x, const void *y, void *ctx)
{
	const struct rows *w = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct keys_entry *one = &w->entries[a], *other = &w->entries[b];
	double bytes = fabs(rows_change(w, one)) - fabs(rows_change(w, other));
	double allocs = fabs(allocs_change(w, one)) - fabs(allocs_change(w, other));

	if (bytes != 0)
		return bytes < 0 ? -1 : 1;
	if (allocs != 0)
		return allocs < 0 ? -1 : 1;
	if (rows_side(one) != rows_side(other))
		return rows_side(one) - rows_side(other);
	return a < b ? -1 : a > b;
}

static bool equal_figures(const struct rows *w, uint32_t a, uint32_t b)
{
	const struct keys_entry *one = &w->entries[a], *other = &w->entries[b];

	return fabs(rows_change(w, one)) == fabs(rows_change(w, other)) &&
	       fabs(allocs_change(w, one)) == fabs(allocs_change(w, other));
}

static void pair_join(struct rows *w, uint32_t a, uint32_t b)
{
	uint32_t row = rows_new(w, DIFF_BY_PART);

	rows_join(w, row, a, DIFF_BY_PART);
	rows_join(w, row, b, DIFF_BY_PART);
}

/* From each of `na` entries of A to each of the `nb` of B behind them. False: they need more than
 * `steps`, from which what they need is taken. */
static bool distances_fill(const struct rows *w, const uint32_t *entries, size_t na, size_t nb,
	uint32_t (*distance)[PAIRS_MAX], uint64_t *steps)
{
	for (size_t k = 0; k < nb; k++) {
		const struct keys_entry *b = &w->entries[entries[na + k]];
		struct name_set names;

		name_set_fill(&names, &b->all);
		for (size_t i = 0; i < na; i++) {
			const struct keys_entry *a = &w->entries[entries[i]];
			uint64_t needed = (uint64_t)a->all.count * b->all.count;

			distance[i][k] = UINT32_MAX;
			if (!may_be_same(&a->all, &b->all, &names))
				continue;
			if (needed > *steps)
				return false;
			*steps -= needed;
			distance[i][k] = apart(a, b);
		}
	}
	return true;
}

/* `na` entries of A, then `nb` of B. False: no more steps. */
static bool pairs_join(
	struct rows *w, const uint32_t *entries, size_t na, size_t nb, uint64_t *steps)
{
	static uint32_t distance[PAIRS_MAX][PAIRS_MAX];

	if (na > PAIRS_MAX || nb > PAIRS_MAX)
		return true;
	if (!distances_fill(w, entries, na, nb, distance, steps))
		return false;
	for (;;) {
		uint32_t least = UINT32_MAX;
		size_t a = 0, b = 0;

		for (size_t i = 0; i < na; i++)
			for (size_t k = 0; k < nb; k++)
				if (distance[i][k] < least)
					least = distance[a = i][b = k];
		if (least == UINT32_MAX)
			return true;
		pair_join(w, entries[a], entries[na + b]);
		for (size_t i = 0; i < na; i++)
			distance[i][b] = UINT32_MAX;
		for (size_t k = 0; k < nb; k++)
			distance[a][k] = UINT32_MAX;
	}
}

void figures_join(struct rows *w)
{
	uint64_t steps = STEPS_MAX;
	size_t at, of[2];

	rows_left(w);
	qsort_r(w->left, w->nleft, sizeof(*w->left), left_compare, w);
	for (size_t end = w->nleft; end > 0; end = at) {
		of[0] = of[1] = 0;
		for (at = end; at > 0 && equal_figures(w, w->left[at - 1], w->left[end - 1]); at--)
			of[rows_side(&w->entries[w->left[at - 1]])]++;
		if (!pairs_join(w, w->left + at, of[0], of[1], &steps))
			return;
	}
}

/* ---- rows ---- */

/* A row with a change. */
struct changed {
	uint32_t row; /* ROWS_NONE: merged with another */
	uint32_t *entries, count;
	uint64_t frames; /* of all entries */
	double bytes, allocs;
	bool both; /* it has entries of both sides */
};

static bool opposite(double x, double y)
{
	return x > 0 ? y < 0 : x < 0 && y > 0;
}

/* Takes as many of `steps` as it may need; false without them. */
static bool rows_alike(
	const struct rows *w, const struct changed *x, const struct changed *y, uint64_t *steps)
{
	uint64_t needed = x->frames * y->frames;

	if (needed > *steps)
		return false;
	*steps -= needed;
	for (uint32_t i = 0; i < x->count; i++)
		for (uint32_t k = 0; k < y->count; k++)
			if (alike(&w->entries[x->entries[i]], &w->entries[y->entries[k]]))
				return true;
	return false;
}

/* Whether `c` may be a part of what `of` lacks. */
static bool is_rest(
	const struct rows *w, const struct changed *of, const struct changed *c, uint64_t *steps)
{
	return c != of && c->row != ROWS_NONE && (of->both || c->both) &&
	       opposite(of->bytes, c->bytes) && opposite(of->allocs, c->allocs) &&
	       fabs(c->bytes) <= fabs(of->bytes) && fabs(c->allocs) <= fabs(of->allocs) &&
	       rows_alike(w, of, c, steps);
}

static bool cancels(const struct changed *of, double bytes, double allocs)
{
	return of->bytes + bytes == 0 && of->allocs + allocs == 0;
}

static void row_take(struct rows *w, struct changed *of, struct changed *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		w->m->row[from->entries[i]] = ROWS_NONE;
		rows_join(w, of->row, from->entries[i], DIFF_BY_PART);
	}
	from->row = ROWS_NONE;
}

/* Takes those rows that together, or of which one alone, cancel the change of `of` out. */
static void rest_take(
	struct rows *w, struct changed *of, struct changed *all, size_t n, uint64_t *steps)
{
	struct changed *rest[CHANGED_MAX];
	double bytes = 0, allocs = 0;
	size_t found = 0, from = 0;

	for (size_t i = 0; i < n; i++)
		if (is_rest(w, of, &all[i], steps)) {
			rest[found++] = &all[i];
			bytes += all[i].bytes;
			allocs += all[i].allocs;
		}
	if (!cancels(of, bytes, allocs)) {
		while (from < found && !cancels(of, rest[from]->bytes, rest[from]->allocs))
			from++;
		found = from < found ? from + 1 : from;
	}
	for (size_t i = from; i < found; i++)
		row_take(w, of, rest[i]);
	if (found > from)
		of->row = ROWS_NONE;
}

/* The largest change first. */
static int changed_compare(const void *x, const void *y)
{
	const struct changed *a = x, *b = y;

	if (fabs(a->bytes) != fabs(b->bytes))
		return fabs(a->bytes) > fabs(b->bytes) ? -1 : 1;
	return a->row < b->row ? -1 : 1;
}

/* Gives each row below `was` that has entries a number without gaps. */
static void rows_renumber(struct rows *w, uint32_t *number)
{
	size_t was = w->m->nrows;

	memset(number, 0xff, was * sizeof(*number));
	w->m->nrows = 0;
	for (size_t i = 0; i < w->count; i++)
		number[w->m->row[i]] = 0;
	for (size_t r = 0; r < was; r++)
		if (number[r] == 0) {
			w->m->how[w->m->nrows] = w->m->how[r];
			number[r] = (uint32_t)w->m->nrows++;
		}
	for (size_t i = 0; i < w->count; i++)
		w->m->row[i] = number[w->m->row[i]];
}

/* ctx is a struct rows. */
static int row_compare(const void *x, const void *y, void *ctx)
{
	const struct rows *w = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (w->m->row[a] != w->m->row[b])
		return w->m->row[a] < w->m->row[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Describes the row of `count` entries. Returns whether it changed. */
static bool changed_fill(
	const struct rows *w, struct changed *out, uint32_t *entries, uint32_t count)
{
	bool of[2] = { false, false };

	*out = (struct changed){ .row = w->m->row[entries[0]], .entries = entries, .count = count };
	for (uint32_t i = 0; i < count; i++) {
		const struct keys_entry *e = &w->entries[entries[i]];

		out->bytes += rows_change(w, e);
		out->allocs += allocs_change(w, e);
		out->frames += e->all.count;
		of[0] |= e->site[0] != NULL;
		of[1] |= e->site[1] != NULL;
	}
	out->both = of[0] && of[1];
	return out->bytes != 0;
}

/* The rows that changed; more than CHANGED_MAX: too many. */
static size_t changed_collect(struct rows *w, struct changed *out)
{
	size_t n = 0, to;

	for (size_t i = 0; i < w->count; i++)
		w->left[i] = (uint32_t)i;
	qsort_r(w->left, w->count, sizeof(*w->left), row_compare, w);
	for (size_t at = 0; at < w->count; at = to) {
		for (to = at; to < w->count && w->m->row[w->left[to]] == w->m->row[w->left[at]];
			to++)
			;
		if (n > CHANGED_MAX)
			return n;
		n += changed_fill(w, &out[n], w->left + at, (uint32_t)(to - at));
	}
	return n;
}

void figures_merge(struct rows *w)
{
	struct changed *all = malloc((CHANGED_MAX + 1) * sizeof(*all));
	uint32_t *number = malloc((w->m->nrows ? w->m->nrows : 1) * sizeof(*number));
	size_t n = all && number ? changed_collect(w, all) : 0;
	uint64_t steps = STEPS_MAX;

	if (n > 0 && n <= CHANGED_MAX) {
		qsort(all, n, sizeof(*all), changed_compare);
		for (size_t i = 0; i < n; i++)
			if (all[i].row != ROWS_NONE)
				rest_take(w, &all[i], all, n, &steps);
		rows_renumber(w, number);
	}
	free(number);
	free(all);
}
