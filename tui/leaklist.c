/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the Leaks (leaklist.h). */
#include "tui/leaklist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "tui/views.h"

#define LOST	   ((1u << SNAP_LEAK_REACHABLE) - 1)
#define SUPPRESSED (1u << SNAP_LEAK_CLASSES)

/* What K goes through. */
static const struct {
	const char *name;
	unsigned kinds;
} choices[] = {
	{ "lost", LOST },
	{ "definite", 1u << SNAP_LEAK_DEFINITE },
	{ "indirect", 1u << SNAP_LEAK_INDIRECT },
	{ "possible", 1u << SNAP_LEAK_POSSIBLE },
	{ "reachable", 1u << SNAP_LEAK_REACHABLE },
	{ "suppressed", SUPPRESSED },
	{ "all", LOST | 1u << SNAP_LEAK_REACHABLE | SUPPRESSED },
};
static_assert(sizeof(choices) / sizeof(choices[0]) == LEAKLIST_CHOICES, "all have a name");

const char *leaklist_choice(const struct ui *ui)
{
	return choices[ui->leaks.choice].name;
}

const struct leaks *leaklist_state(const struct ui *ui)
{
	return ui->source->leaks(ui->source->ctx);
}

static uint64_t key_of(const struct snap_leak_site *l)
{
	return (uint64_t)l->class << 33 | (uint64_t)l->suppressed << 32 | l->site;
}

const struct leaks_row *view_leaks_selected(const struct ui *ui)
{
	const struct leaks_state *st = &ui->leaks;

	return st->list.cursor < st->list.count ? &st->row[st->list.cursor] : NULL;
}

/* ---- order ---- */

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

double leaklist_since(const struct snap_leak_site *l)
{
	return (double)l->sum.bytes - (double)l->before.bytes;
}

static int by_name(const struct ui *ui, const struct leaks_row *a, const struct leaks_row *b)
{
	struct row_style style = ui_style(ui);
	char x[256] = "", y[256] = "";

	if (a->site)
		site_name(a->site, &style, x, sizeof(x));
	if (b->site)
		site_name(b->site, &style, y, sizeof(y));
	return strcmp(x, y);
}

static int leaks_by(const struct ui *ui, const struct leaks_row *ra, const struct leaks_row *rb)
{
	const struct snap_leak_site *a = ra->leak, *b = rb->leak;
	const struct snap_leaks *l = ui->leaks.last;

	switch (ui->leaks.order.sort) {
	case BY_BYTES:
		return down((double)a->sum.bytes, (double)b->sum.bytes);
	case BY_BLOCKS:
		return down((double)a->sum.blocks, (double)b->sum.blocks);
	case BY_BEHIND:
		return down((double)a->indirect.bytes, (double)b->indirect.bytes);
	case BY_OLDEST:
		return -down((double)a->oldest_ns, (double)b->oldest_ns);
	case BY_SINCE:
		return down(leaklist_since(a), leaklist_since(b));
	case BY_CONFIDENCE:
		return down(leaks_confidence(l, a), leaks_confidence(l, b));
	case BY_SITE:
		return by_name(ui, ra, rb);
	default:
		return (int)a->class - (int)b->class;
	}
}

/* Ties: by class, and by what a definite one takes along; at last by id, so that rows stay. */
static int leaks_compare(const void *pa, const void *pb, void *ctx)
{
	const struct leaks_row *a = pa, *b = pb;
	const struct ui *ui = ctx;
	int by = leaks_by(ui, a, b);

	if (ui->leaks.order.reverse)
		by = -by;
	if (!by)
		by = (int)a->leak->class - (int)b->leak->class;
	if (!by)
		by = down((double)(a->leak->sum.bytes + a->leak->indirect.bytes),
			(double)(b->leak->sum.bytes + b->leak->indirect.bytes));
	return by ? by : (a->leak->site > b->leak->site) - (a->leak->site < b->leak->site);
}

/* ---- rows ---- */

static bool is_chosen(const struct ui *ui, const struct snap_leak_site *l)
{
	unsigned kinds = choices[ui->leaks.choice].kinds;

	return l->suppressed ? kinds & SUPPRESSED : kinds >> l->class & 1;
}

/* By id; NULL without memory. */
static const struct snap_site **sites_by_id(const struct ui *ui, uint32_t *count)
{
	const struct snapshot *s = ui->shown;
	const struct snap_site **by;
	uint32_t most = 0;

	for (size_t i = 0; s && i < s->nsites; i++)
		if (s->sites[i].id > most)
			most = s->sites[i].id;
	by = calloc(most + (size_t)1, sizeof(*by));
	for (size_t i = 0; by && s && i < s->nsites; i++)
		by[s->sites[i].id] = &s->sites[i];
	*count = by ? most + 1 : 0;
	return by;
}

static void rows_make(struct ui *ui)
{
	struct leaks_state *st = &ui->leaks;
	size_t n = st->last ? st->last->nsites : 0;
	const struct snap_site **by;
	uint32_t ids;

	if (n > st->room) {
		void *p = realloc(st->row, n * sizeof(*st->row));

		if (!p)
			n = st->room;
		st->row = p ? p : st->row;
		st->room = n;
	}
	by = sites_by_id(ui, &ids);
	st->list.count = 0;
	for (size_t i = 0; i < n; i++) {
		const struct snap_leak_site *l = &st->last->sites[i];

		if (is_chosen(ui, l))
			st->row[st->list.count++] =
				(struct leaks_row){ l, l->site < ids ? by[l->site] : NULL };
	}
	if (st->list.count)
		qsort_r(st->row, st->list.count, sizeof(*st->row), leaks_compare, ui);
	free(by);
}

void leaklist_select_cursor(struct ui *ui)
{
	const struct leaks_row *row = view_leaks_selected(ui);

	ui->leaks.has_selected = row != NULL;
	if (row)
		ui->leaks.selected = key_of(row->leak);
}

void view_leaks_update(struct ui *ui)
{
	struct leaks_state *st = &ui->leaks;
	size_t count;

	if (!ui->source->leaks)
		return;
	st->last = leaklist_state(ui)->last;
	st->version = leaklist_state(ui)->version;
	rows_make(ui);
	count = st->list.count;
	for (size_t i = 0; st->list.moved && st->has_selected && i < count; i++)
		if (key_of(st->row[i].leak) == st->selected)
			list_follow(&st->list, i);
	list_recount(&st->list, count);
	leaklist_select_cursor(ui);
}

/* A result may come between two ticks, and the one before is gone then. */
void view_leaks_fresh(struct ui *ui)
{
	if (ui->source->leaks && leaklist_state(ui)->version != ui->leaks.version)
		view_leaks_update(ui);
}

void view_leaks_free(struct ui *ui)
{
	free(ui->leaks.row);
	free(ui->leaks.why);
	ui->leaks = (struct leaks_state){ .list.height = ui->leaks.list.height,
		.choice = ui->leaks.choice,
		.order = ui->leaks.order };
}
