/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What differs between two moments, runs or builds (diff.h). Main thread. */
#include "src/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "src/diff/keys.h"
#include "src/diff/match.h"
#include "src/diff/rank_test.h"

struct work {
	struct diff *d;
	struct keys *keys;
	struct match match;
	uint64_t *values; /* of each row, as in keys_entry */
	struct rank_test_known known;
};

static size_t runs_of(const struct diff *d)
{
	return d->na + d->nb;
}

static const struct snapshot *run_of(const struct diff *d, size_t run)
{
	return run < d->na ? d->a[run] : d->b[run - d->na];
}

/* ---- one figure on both sides ---- */

static bool all_equal(const uint64_t *figures, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (figures[i] != figures[0])
			return false;
	return true;
}

static bool is_above_floor(const struct diff_change *c, enum snap_value v)
{
	uint64_t change = c->a > c->b ? c->a - c->b : c->b - c->a;
	uint64_t larger = c->a > c->b ? c->a : c->b;

	return change >= (value_table[v].bytes ? DIFF_FLOOR_BYTES : DIFF_FLOOR_COUNT) &&
	       (double)change >= DIFF_FLOOR_PART * (double)larger;
}

/* `a` and `b` are sorted by it. */
static struct diff_change change_make(struct work *w, uint64_t *a, uint64_t *b, enum snap_value v)
{
	const struct diff *d = w->d;
	bool equal = all_equal(a, d->na) && all_equal(b, d->nb);
	struct diff_change c = { .sure = DIFF_TESTED, .p = 1 };

	if (equal)
		c.sure = d->na > 1 && d->nb > 1 ? DIFF_EXACT : DIFF_ONE_RUN;
	else
		c.p = rank_test_p(a, d->na, b, d->nb, &w->known);
	c.a = rank_test_median(a, d->na);
	c.b = rank_test_median(b, d->nb);
	if (c.sure == DIFF_TESTED)
		c.real = c.p <= DIFF_ALPHA && is_above_floor(&c, v);
	else
		c.real = c.a != c.b;
	return c;
}

static void figures_copy(
	const struct work *w, size_t row, enum snap_value v, uint64_t *a, uint64_t *b)
{
	const uint64_t *from = w->values + row * runs_of(w->d) * VALUE_COUNT;

	for (size_t r = 0; r < runs_of(w->d); r++)
		*(r < w->d->na ? &a[r] : &b[r - w->d->na]) = from[r * VALUE_COUNT + v];
}

static void totals_make(struct work *w)
{
	struct diff *d = w->d;

	for (int i = 0; i < VALUE_COUNT; i++) {
		enum snap_value v = (enum snap_value)i;
		uint64_t a[DIFF_RUNS_MAX], b[DIFF_RUNS_MAX];

		d->known[v] = true;
		for (size_t r = 0; r < runs_of(d); r++) {
			const struct snap_totals *t = &run_of(d, r)->totals;

			*(r < d->na ? &a[r] : &b[r - d->na]) = value_total(t, v);
			d->known[v] &= value_known(t, v);
		}
		d->total[v] = change_make(w, a, b, v);
		if (v == d->value && d->total[v].sure == DIFF_TESTED)
			d->has_interval = rank_test_interval(
				a, d->na, b, d->nb, DIFF_ALPHA, &d->low, &d->high);
	}
	d->p_least = rank_test_p_least(d->na, d->nb);
}

/* ---- rows ---- */

static void larger_take(const struct snap_site **site, const struct snap_site *other)
{
	if (other && (!*site || other->alloc_bytes > (*site)->alloc_bytes))
		*site = other;
}

/* The stacks to show: those that differ, if there are any. */
static void sites_choose(
	struct diff *d, const struct keys_entry *entries, size_t n, const uint32_t *row)
{
	for (size_t i = 0; i < n; i++) {
		struct diff_row *r = &d->rows[row[i]];

		if (!entries[i].site[0] || !entries[i].site[1]) {
			larger_take(&r->a, entries[i].site[0]);
			larger_take(&r->b, entries[i].site[1]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct diff_row *r = &d->rows[row[i]];
		if (!r->a)
			r->a = entries[i].site[0];
		if (!r->b)
			r->b = entries[i].site[1];
	}
}

static void row_entry_add(struct work *w, const struct keys_entry *e, size_t row)
{
	struct diff_row *r = &w->d->rows[row];
	uint64_t *to = w->values + row * runs_of(w->d) * VALUE_COUNT;

	for (size_t i = 0; i < runs_of(w->d) * VALUE_COUNT; i++)
		to[i] += e->values[i];
	r->sites_a += e->sites[0];
	r->sites_b += e->sites[1];
}

static enum diff_kind kind_of(const struct diff_row *r, const struct diff_change *c)
{
	if (c->a == c->b)
		return r->match >= DIFF_BY_PREFIX && r->match < DIFF_UNMATCHED ? DIFF_MOVED
									       : DIFF_SAME;
	if (!r->a)
		return DIFF_APPEARED;
	if (!r->b)
		return DIFF_VANISHED;
	return c->b > c->a ? DIFF_GREW : DIFF_SHRANK;
}

static void row_judge(struct work *w, size_t row)
{
	struct diff *d = w->d;
	struct diff_row *r = &d->rows[row];
	uint64_t a[DIFF_RUNS_MAX], b[DIFF_RUNS_MAX];

	for (int v = 0; v < VALUE_COUNT; v++) {
		figures_copy(w, row, (enum snap_value)v, a, b);
		if (d->known[v])
			r->change[v] = change_make(w, a, b, (enum snap_value)v);
	}
	r->kind = kind_of(r, &r->change[d->value]);
	for (int v = 0; v < VALUE_COUNT && r->match == DIFF_UNMATCHED; v++) {
		d->unmatched_a[v] += r->change[v].a;
		d->unmatched_b[v] += r->change[v].b;
	}
}

/*
 * Among thousands of rows some pass a test by chance: of each value's tested changes, those count
 * that keep false discoveries to DIFF_ALPHA of all. Rows that are too small to count are no tests.
 */
static void chance_limit(struct diff *d, enum snap_value v, double *p)
{
	uint64_t least = value_table[v].bytes ? DIFF_FLOOR_BYTES : DIFF_FLOOR_COUNT;
	double limit;
	size_t n = 0;

	for (size_t i = 0; i < d->nrows; i++) {
		const struct diff_change *c = &d->rows[i].change[v];

		if (c->sure == DIFF_TESTED && (c->a >= least || c->b >= least))
			p[n++] = c->p;
	}
	limit = rank_test_limit(p, n, DIFF_ALPHA);
	for (size_t i = 0; i < d->nrows; i++)
		if (d->rows[i].change[v].sure == DIFF_TESTED)
			d->rows[i].change[v].real &= d->rows[i].change[v].p <= limit;
}

static uint64_t change_size(const struct diff_row *r, int v)
{
	const struct diff_change *c = &r->change[v];

	return c->a > c->b ? c->a - c->b : c->b - c->a;
}

static uint64_t larger_figure(const struct diff_row *r, int v)
{
	return r->change[v].a > r->change[v].b ? r->change[v].a : r->change[v].b;
}

/* 0: changed and real; 1: moved; 2: changed within its scatter; 3: the same. */
static int row_class(const struct diff_row *r, int v)
{
	if (r->kind == DIFF_SAME)
		return 3;
	if (r->kind == DIFF_MOVED)
		return 1;
	return r->change[v].real ? 0 : 2;
}

static int numbers_compare(uint64_t x, uint64_t y)
{
	return x > y ? -1 : x < y;
}

static int rows_compare(const void *x, const void *y, void *ctx)
{
	const struct diff_row *a = x, *b = y;
	int v = (int)((const struct diff *)ctx)->value, order = row_class(a, v) - row_class(b, v);

	order = order ? order : numbers_compare(change_size(a, v), change_size(b, v));
	order = order ? order : numbers_compare(larger_figure(a, v), larger_figure(b, v));
	order = order ? order
		      : numbers_compare(
				change_size(a, VALUE_ALLOCATED), change_size(b, VALUE_ALLOCATED));
	order = order ? order
		      : numbers_compare(larger_figure(a, VALUE_ALLOCATED),
				larger_figure(b, VALUE_ALLOCATED));
	order = order ? order
		      : strcmp((a->b ? a->b : a->a)->alloc_function,
				(b->b ? b->b : b->a)->alloc_function);
	return order ? order : numbers_compare((b->b ? b->b : b->a)->id, (a->b ? a->b : a->a)->id);
}

static bool rows_make(struct work *w)
{
	struct diff *d = w->d;
	size_t count, n;
	const struct keys_entry *entries = keys_entries(w->keys, &count);
	double *p;

	n = w->match.nrows ? w->match.nrows : 1;
	d->rows = calloc(n, sizeof(*d->rows));
	w->values = calloc(n * runs_of(d) * VALUE_COUNT, sizeof(*w->values));
	p = malloc(n * sizeof(*p));
	if (!d->rows || !w->values || !p) {
		free(p);
		return false;
	}
	d->nrows = w->match.nrows;
	for (size_t i = 0; i < count; i++)
		row_entry_add(w, &entries[i], w->match.row[i]);
	sites_choose(d, entries, count, w->match.row);
	for (size_t i = 0; i < d->nrows; i++) {
		d->rows[i].match = w->match.how[i];
		row_judge(w, i);
	}
	for (int v = 0; v < VALUE_COUNT; v++)
		chance_limit(d, (enum snap_value)v, p);
	free(p);
	qsort_r(d->rows, d->nrows, sizeof(*d->rows), rows_compare, d);
	for (size_t i = 0; i < d->nrows; i++) {
		d->nchanged += row_class(&d->rows[i], (int)d->value) == 0;
		d->nmoved += row_class(&d->rows[i], (int)d->value) == 1;
		d->nscattered += row_class(&d->rows[i], (int)d->value) == 2;
	}
	return true;
}

struct diff *diff_make(const struct snapshot *const *a, size_t na, const struct snapshot *const *b,
	size_t nb, enum snap_value value)
{
	struct diff *d = calloc(1, sizeof(*d));
	struct work w = { .d = d, .keys = d ? keys_new(na, nb) : NULL };
	bool ok = w.keys != NULL;

	if (!d)
		return NULL;
	*d = (struct diff){ .value = value, .a = a, .b = b, .na = na, .nb = nb };
	totals_make(&w);
	for (size_t r = 0; ok && r < runs_of(d); r++)
		ok = keys_add(w.keys, run_of(d, r), r);
	ok = ok && match_make(&w.match, w.keys);
	ok = ok && rows_make(&w);
	match_free(&w.match);
	keys_free(w.keys);
	free(w.values);
	rank_test_known_free(&w.known);
	if (ok)
		return d;
	diff_free(d);
	return NULL;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	free(d->rows);
	free(d);
}

const char *diff_kind_word(enum diff_kind kind)
{
	static const char *const words[] = { [DIFF_SAME] = "same",
		[DIFF_MOVED] = "moved",
		[DIFF_GREW] = "grew",
		[DIFF_SHRANK] = "shrank",
		[DIFF_APPEARED] = "appeared",
		[DIFF_VANISHED] = "vanished" };

	return words[kind];
}

const char *diff_match_word(enum diff_match match)
{
	static const char *const words[] = { [DIFF_BY_STACK] = "stack",
		[DIFF_BY_OWN_STACK] = "own-stack",
		[DIFF_BY_PREFIX] = "prefix",
		[DIFF_BY_PART] = "part",
		[DIFF_BY_FUNCTION] = "function",
		[DIFF_UNMATCHED] = "none" };

	return words[match];
}

const char *diff_sure_word(enum diff_sure sure)
{
	static const char *const words[] = {
		[DIFF_ONE_RUN] = "one-run", [DIFF_EXACT] = "exact", [DIFF_TESTED] = "tested"
	};

	return words[sure];
}
