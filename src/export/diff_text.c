/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diff as text (export_diff.h). Main thread. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "src/export/export_diff.h"
#include "src/export/text.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define FILES_SHOWN  3 /* of each side; the rest are counted */
#define PERCENT_MOST 9999.0 /* larger ones are factors */
#define TOTALS_CELLS 16

const char *export_diff_change(uint64_t a, uint64_t b, char buf[EXPORT_DIFF_CHANGE_MAX])
{
	char exact[UNITS_MAX + 8];

	if (a == b)
		return "0";
	snprintf(buf, EXPORT_DIFF_CHANGE_MAX, "%c%s", b > a ? '+' : '-',
		units_exact(exact, b > a ? b - a : a - b));
	return buf;
}

const char *export_diff_percent(uint64_t a, uint64_t b, char buf[UNITS_MAX])
{
	double percent = a ? ((double)b - (double)a) * 100 / (double)a : 0;

	if (a == b)
		return "";
	if (a == 0)
		return "new";
	if (percent > PERCENT_MOST)
		snprintf(buf, UNITS_MAX, "x%.4g", (double)b / (double)a);
	else
		snprintf(buf, UNITS_MAX, "%+.1f%%", percent);
	return buf;
}

static const char *runs_text(const struct diff *d, char buf[64])
{
	snprintf(buf, 64, "%zu and %zu runs", d->na, d->nb);
	return buf;
}

/* "99.2%"; less than 100 %, whatever the rounding. */
static const char *certainty(double p, char buf[16])
{
	unsigned tenths = p >= 1 ? 0 : p < 0.001 ? 999 : (unsigned)((1 - p) * 1000);

	snprintf(buf, 16, "%u.%u%%", tenths / 10 % 100, tenths % 10);
	return buf;
}

static void sure_text(const struct diff *d, char *out, size_t cap)
{
	const struct diff_change *c = &d->total[d->value];
	char runs[64], sure[16];

	if (c->sure == DIFF_ONE_RUN && d->na == 1 && d->nb == 1)
		snprintf(out, cap, "one run each");
	else if (c->sure == DIFF_ONE_RUN)
		snprintf(out, cap, "%s, of which one is alone", runs_text(d, runs));
	else if (c->sure == DIFF_EXACT)
		snprintf(out, cap, "exact: the same in all of %s", runs_text(d, runs));
	else
		snprintf(out, cap, "%s sure of a change, from %s%s", certainty(c->p, sure),
			runs_text(d, runs),
			d->p_least > DIFF_ALPHA ? ", which are too few for 95%" : "");
}

const char *export_diff_verdict(const struct diff *d, char buf[EXPORT_DIFF_VERDICT_MAX])
{
	const struct diff_change *c = &d->total[d->value];
	char change[EXPORT_DIFF_CHANGE_MAX], percent[UNITS_MAX], sure[160];
	const char *part = export_diff_percent(c->a, c->b, percent);

	sure_text(d, sure, sizeof(sure));
	if (c->a == c->b)
		snprintf(buf, EXPORT_DIFF_VERDICT_MAX, "%s: no change (%s)",
			value_table[d->value].title, sure);
	else
		snprintf(buf, EXPORT_DIFF_VERDICT_MAX, "%s: %s%s%s%s%s (%s)",
			value_table[d->value].title, c->real ? "" : "no change beyond chance, ",
			export_diff_change(c->a, c->b, change), *part ? " (" : "", part,
			*part ? ")" : "", sure);
	return buf;
}

/* ---- the head ---- */

static void side_put(
	struct strbuf *out, char name, const struct snapshot *s, const char *const *files, size_t n)
{
	char state[48], age[UNITS_MAX], clean[1024];

	strbuf_printf(out, "%c         %s\n", name, s->command && *s->command ? s->command : "?");
	if (n == 1)
		strbuf_printf(out, "          pid %d, %s after %s\n", (int)s->pid,
			snapshot_state_text(s, state), units_duration(age, s->uptime_ns));
	strbuf_puts(out, "          ");
	for (size_t i = 0; i < n && i < FILES_SHOWN; i++) {
		text_clean(clean, sizeof(clean), files[i], strlen(files[i]));
		strbuf_printf(out, "%s%s", i ? ", " : "", clean);
	}
	if (n > FILES_SHOWN)
		strbuf_printf(out, " and %zu more", n - FILES_SHOWN);
	strbuf_putc(out, '\n');
}

static void total_put(struct strbuf *out, const struct diff *d, enum snap_value v)
{
	const struct diff_change *c = &d->total[v];
	char a[UNITS_MAX + 8], b[UNITS_MAX + 8], change[EXPORT_DIFF_CHANGE_MAX];
	char percent[UNITS_MAX];
	const char *part = export_diff_percent(c->a, c->b, percent);

	/* The sum of own peaks says nothing. */
	if (v == VALUE_OWN_PEAK)
		return;
	strbuf_printf(out, "%-9s %*s %*s %*s", value_table[v].word, TOTALS_CELLS,
		units_exact(a, c->a), TOTALS_CELLS, units_exact(b, c->b), TOTALS_CELLS,
		export_diff_change(c->a, c->b, change));
	if (*part)
		strbuf_printf(out, "  %s", part);
	if (c->sure == DIFF_TESTED && c->a != c->b)
		strbuf_printf(out, "  %s", c->real ? "real" : "chance");
	strbuf_putc(out, '\n');
}

static void totals_put(struct strbuf *out, const struct diff *d)
{
	char a[UNITS_MAX + 8], b[UNITS_MAX + 8];

	strbuf_printf(out, "\n%-9s %*s %*s %*s\n", "total", TOTALS_CELLS, "A", TOTALS_CELLS, "B",
		TOTALS_CELLS, "change");
	for (int v = 0; v < VALUE_COUNT; v++)
		total_put(out, d, (enum snap_value)v);
	strbuf_printf(out, "\nunmatched %s %s of A, %s of B, in call sites that the other lacks\n",
		units_exact(a, d->unmatched_a[d->value]), value_table[d->value].title,
		units_exact(b, d->unmatched_b[d->value]));
}

static void interval_put(struct strbuf *out, const struct diff *d)
{
	char low[EXPORT_DIFF_CHANGE_MAX], high[EXPORT_DIFF_CHANGE_MAX];
	uint64_t l = (uint64_t)fabs(d->low), h = (uint64_t)fabs(d->high);

	if (d->has_interval)
		strbuf_printf(out, "          the change is %s to %s with 95%% certainty\n",
			export_diff_change(d->low < 0 ? l : 0, d->low < 0 ? 0 : l, low),
			export_diff_change(d->high < 0 ? h : 0, d->high < 0 ? 0 : h, high));
}

static void head_put(
	struct strbuf *out, const struct export_diff *x, const struct export_options *o)
{
	const struct diff *d = x->diff;
	char verdict[EXPORT_DIFF_VERDICT_MAX];

	strbuf_printf(out, "heaptop %s diff\n\n", o->version ? o->version : "");
	side_put(out, 'A', d->a[0], x->a, d->na);
	side_put(out, 'B', d->b[0], x->b, d->nb);
	if (d->a[0]->nchildren || d->b[0]->nchildren)
		strbuf_printf(out,
			"children  %zu of A and %zu of B are not compared, only the program "
			"itself\n",
			d->a[0]->nchildren, d->b[0]->nchildren);
	strbuf_printf(out, "change    %s\n", export_diff_verdict(d, verdict));
	interval_put(out, d);
	totals_put(out, d);
}

/* ---- rows ---- */

static void row_others_put(struct strbuf *out, const struct diff *d, const struct diff_row *r)
{
	const char *between = "     ";

	for (int v = 0; v < VALUE_COUNT; v++) {
		const struct diff_change *c = &r->change[v];
		char change[EXPORT_DIFF_CHANGE_MAX];

		if (v == (int)d->value || !d->known[v] || c->a == c->b)
			continue;
		strbuf_printf(out, "%s%s %s", between, value_table[v].title,
			export_diff_change(c->a, c->b, change));
		between = ", ";
	}
	if (*between == ',')
		strbuf_putc(out, '\n');
}

static void row_sites_put(struct strbuf *out, const struct diff_row *r)
{
	if (r->sites_a > 1 || r->sites_b > 1)
		strbuf_printf(
			out, "     sum of %u call sites in A, %u in B\n", r->sites_a, r->sites_b);
}

static void row_put(struct strbuf *out, const struct diff *d, const struct diff_row *r, size_t rank,
	const struct export_options *o)
{
	const struct diff_change *c = &r->change[d->value];
	char change[EXPORT_DIFF_CHANGE_MAX], percent[UNITS_MAX];
	char a[UNITS_MAX + 8], b[UNITS_MAX + 8];
	const char *part = export_diff_percent(c->a, c->b, percent);

	strbuf_printf(out, "\n%3zu. %s: %s %s", rank, diff_kind_word(r->kind),
		export_diff_change(c->a, c->b, change), value_table[d->value].title);
	if (*part && r->a && r->b)
		strbuf_printf(out, " (%s)", part);
	strbuf_printf(out, ", from %s to %s", units_exact(a, c->a), units_exact(b, c->b));
	if (c->sure == DIFF_TESTED)
		strbuf_printf(out, ", %s sure", certainty(c->p, percent));
	strbuf_putc(out, '\n');
	row_others_put(out, d, r);
	row_sites_put(out, r);
	text_stack(out, r->b ? r->b : r->a, o);
	if (r->a && r->b && r->match >= DIFF_BY_PREFIX) {
		strbuf_printf(out, "     in A (matched by %s):\n", diff_match_word(r->match));
		text_stack(out, r->a, o);
	}
}

/* Changes that another --value shows. */
static void others_put(struct strbuf *out, const struct diff *d)
{
	size_t rows[VALUE_COUNT] = { 0 };
	const char *between = "others differ in ";
	char count[UNITS_MAX + 8];

	for (size_t i = 0; i < d->nrows; i++)
		for (int v = 0; v < VALUE_COUNT && d->rows[i].kind == DIFF_SAME; v++)
			rows[v] += d->rows[i].change[v].real;
	for (int v = 0; v < VALUE_COUNT; v++) {
		if (!rows[v])
			continue;
		strbuf_printf(out, "%s%s (%s)", between, value_table[v].title,
			units_exact(count, rows[v]));
		between = ", ";
	}
	if (*between == ',')
		strbuf_puts(out, "; --value chooses\n");
}

static void count_put(struct strbuf *out, const struct diff *d, size_t shown)
{
	const char *of = value_table[d->value].title;
	char part[UNITS_MAX + 8], changed[UNITS_MAX + 8], all[UNITS_MAX + 8];

	units_exact(all, d->nrows);
	if (d->nchanged)
		strbuf_printf(out, "\n%s of %s changed call sites, by %s; %s compared\n",
			units_exact(part, shown), units_exact(changed, d->nchanged), of, all);
	else
		strbuf_printf(out, "\nno call site changed in %s; %s compared\n", of, all);
	if (d->nmoved)
		strbuf_printf(out, "%s moved: the same figures, but another stack\n",
			units_exact(all, d->nmoved));
	if (d->nscattered)
		strbuf_printf(
			out, "%s differ by no more than chance\n", units_exact(all, d->nscattered));
	others_put(out, d);
}

static void rows_put(struct strbuf *out, const struct diff *d, const struct export_options *o)
{
	size_t listed = d->nchanged + d->nmoved, top = o->top && o->top < listed ? o->top : listed;

	count_put(out, d, top < d->nchanged ? top : d->nchanged);
	for (size_t i = 0; i < top; i++)
		row_put(out, d, &d->rows[i], i + 1, o);
}

void export_diff_text(
	struct strbuf *out, const struct export_diff *x, const struct export_options *o)
{
	head_put(out, x, o);
	rows_put(out, x->diff, o);
	if (o->verdict)
		strbuf_printf(out, "\nverdict   %s\n", o->verdict);
}
