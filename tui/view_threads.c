/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's threads: what each allocated, how much of it is alive, which blocks it freed, its
 * own and others', and the rates. A block belongs to the thread that allocated it, whichever thread
 * frees it. Main thread.
 */
#include "tui/view_threads.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/refresh.h"
#include "tui/trail.h"

enum threads_by {
	BY_LIVE,
	BY_SHARE,
	BY_RATE,
	BY_ALLOC_RATE,
	BY_FREE_RATE,
	BY_FREES,
	BY_FOREIGN,
	BY_TID,
	BY_NAME,
	BY_ALLOC_BYTES,
	BY_ALLOCS,
	BY_FREE_BYTES,
	BY_DELTA,
	BY_A_ALLOC_BYTES,
	BY_A_ALLOCS,
	BY_A_FREES
};

static const struct table_column thread_columns[] = {
	{ "LIVE", 7, true, 0, "live bytes it allocated, whichever thread frees them" },
	{ "%", 5, true, 70, "share of all live bytes" },
	{ "RATE", 9, true, 48, "growth of LIVE per second, over 10 s" },
	{ "ALLOC/s", 8, true, 56, "blocks it allocates per second" },
	{ "FREE/s", 8, true, 64, "blocks it frees per second" },
	{ "FREES", 6, true, 92, "blocks it freed, whichever thread allocated them" },
	{ "OTHERS'", 7, true, 62, "of these, blocks allocated by other threads" },
	{ "TID", 8, true, 76, "thread id, as the program sees it" },
	{ "THREAD", 0, false, 0, "name of the thread" },
};
/* In a range: what each did in it. */
static const struct table_column range_columns[] = {
	{ "ALLOC", 7, true, 0, "bytes it allocated in the range" },
	{ "FREED", 7, true, 48, "bytes it freed, whichever thread allocated them" },
	{ "ALLOCS", 6, true, 56, "blocks it allocated in the range" },
	{ "FREES", 6, true, 64, "blocks it freed" },
	{ "OTHERS'", 7, true, 72, "of these, blocks allocated by other threads" },
	{ "TID", 8, true, 80, "thread id, as the program sees it" },
	{ "THREAD", 0, false, 0, "name of the thread" },
};
static const unsigned char range_meanings[] = { BY_ALLOC_BYTES, BY_FREE_BYTES, BY_ALLOCS, BY_FREES,
	BY_FOREIGN, BY_TID, BY_NAME };
static unsigned range_off;
static const struct table range_table = { range_columns, sizeof(range_meanings), NULL, &range_off };
/* In a diff: the threads of a name, on both sides. */
static const struct table_column diff_columns[] = {
	{ "DELTA", 8, true, 0, "bytes allocated in B minus those in A" },
	{ "ALLOC A", 8, true, 0, "bytes they allocated in A" },
	{ "ALLOC B", 8, true, 0, "the same in B" },
	{ "ALLOCS A", 8, true, 64, "blocks they allocated in A" },
	{ "ALLOCS B", 8, true, 64, "the same in B" },
	{ "FREES A", 8, true, 84, "blocks they freed in A" },
	{ "FREES B", 8, true, 84, "the same in B" },
	{ "THREAD", 0, false, 0, "name of the threads" },
};
static const unsigned char diff_meanings[] = { BY_DELTA, BY_A_ALLOC_BYTES, BY_ALLOC_BYTES,
	BY_A_ALLOCS, BY_ALLOCS, BY_A_FREES, BY_FREES, BY_NAME };
static unsigned diff_off;
static const struct table diff_table = { diff_columns, sizeof(diff_meanings), NULL, &diff_off };
static_assert(sizeof(thread_columns) / sizeof(thread_columns[0]) <= TABLE_COLUMNS, "columns");
static unsigned thread_off;
static const struct table thread_table = { thread_columns,
	sizeof(thread_columns) / sizeof(thread_columns[0]), NULL, &thread_off };

static struct list *threads_list(struct ui *ui)
{
	return &ui->threads.list;
}

/* Whether what each thread did in a range is shown. */
static bool threads_ranged(const struct ui *ui)
{
	return ui->shown && ui->shown->range && ui->shown->range->threads;
}

static bool threads_compared(const struct ui *ui)
{
	return ui->shown && ui->shown->versus;
}

static const struct table *threads_table(const struct ui *ui)
{
	if (threads_compared(ui))
		return &diff_table;
	return threads_ranged(ui) ? &range_table : &thread_table;
}

static enum threads_by threads_meaning(const struct ui *ui, unsigned column)
{
	if (threads_compared(ui))
		column = diff_meanings[column % sizeof(diff_meanings)];
	else if (threads_ranged(ui))
		column = range_meanings[column % sizeof(range_meanings)];
	return (enum threads_by)column;
}

static struct table_order *threads_order(struct ui *ui)
{
	if (threads_compared(ui))
		return &ui->threads.diff_order;
	return threads_ranged(ui) ? &ui->threads.range_order : &ui->threads.order;
}

static unsigned threads_fit(const struct ui *ui, struct table_place place[TABLE_COLUMNS])
{
	const struct threads_state *st = &ui->threads;

	return table_fit(threads_table(ui),
		threads_compared(ui) ? &st->diff_order
		: threads_ranged(ui) ? &st->range_order
				     : &st->order,
		ui->layout.width, place);
}

static const struct snap_thread *threads_at(const struct ui *ui, uint32_t index)
{
	return threads_ranged(ui) ? &ui->shown->range->threads[index] : &ui->shown->threads[index];
}

static const struct snap_thread *threads_row(const struct ui *ui, size_t row)
{
	return threads_at(ui, ui->threads.row[row]);
}

/* ---- order -------------------------------------------------------------------------------- */

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

/* The same threads on the other side of the diff. */
static const struct snap_thread *threads_a(const struct ui *ui, const struct snap_thread *b)
{
	return &ui->shown->versus->threads[b - ui->shown->threads];
}

static double threads_delta(const struct ui *ui, const struct snap_thread *b)
{
	return (double)b->alloc_bytes - (double)threads_a(ui, b)->alloc_bytes;
}

/* By a column that only a diff has. */
static int threads_by_versus(const struct ui *ui, enum threads_by by, const struct snap_thread *a,
	const struct snap_thread *b)
{
	if (by == BY_DELTA)
		return down(fabs(threads_delta(ui, a)), fabs(threads_delta(ui, b)));
	a = threads_a(ui, a);
	b = threads_a(ui, b);
	if (by == BY_A_ALLOCS)
		return down((double)a->allocs, (double)b->allocs);
	if (by == BY_A_FREES)
		return down((double)a->frees, (double)b->frees);
	return down((double)a->alloc_bytes, (double)b->alloc_bytes);
}

static int threads_by(enum threads_by by, const struct snap_thread *a, const struct snap_thread *b)
{
	switch (by) {
	case BY_RATE:
		return down(a->live_bytes_per_s, b->live_bytes_per_s);
	case BY_ALLOC_RATE:
		return down(a->allocs_per_s, b->allocs_per_s);
	case BY_FREE_RATE:
		return down(a->frees_per_s, b->frees_per_s);
	case BY_FREES:
		return down((double)a->frees, (double)b->frees);
	case BY_FOREIGN:
		return down((double)a->foreign_frees, (double)b->foreign_frees);
	case BY_TID:
		return down(a->tid, b->tid);
	case BY_NAME:
		return strcmp(a->name, b->name);
	case BY_ALLOC_BYTES:
		return down((double)a->alloc_bytes, (double)b->alloc_bytes);
	case BY_ALLOCS:
		return down((double)a->allocs, (double)b->allocs);
	case BY_FREE_BYTES:
		return down((double)a->free_bytes, (double)b->free_bytes);
	case BY_LIVE:
	case BY_SHARE:
	case BY_DELTA:
	case BY_A_ALLOC_BYTES:
	case BY_A_ALLOCS:
	case BY_A_FREES:
		break;
	}
	return down((double)a->live_bytes, (double)b->live_bytes);
}

static int threads_compare(const void *pa, const void *pb, void *ctx)
{
	struct ui *ui = ctx;
	const struct snap_thread *a = threads_at(ui, *(const uint32_t *)pa);
	const struct snap_thread *b = threads_at(ui, *(const uint32_t *)pb);
	enum threads_by meaning = threads_meaning(ui, threads_order(ui)->sort);
	int by = meaning >= BY_DELTA ? threads_by_versus(ui, meaning, a, b)
				     : threads_by(meaning, a, b);

	if (threads_order(ui)->reverse)
		by = -by;
	return by ? by : (a->slot > b->slot) - (a->slot < b->slot);
}

static bool threads_grow(struct threads_state *st, size_t n)
{
	uint32_t *row, *drawn;

	if (n <= st->capacity)
		return true;
	row = realloc(st->row, n * 2 * sizeof(*row));
	if (row)
		st->row = row;
	drawn = realloc(st->drawn, n * 2 * sizeof(*drawn));
	if (drawn)
		st->drawn = drawn;
	if (!row || !drawn)
		return false;
	st->capacity = n * 2;
	return true;
}

/* Known threads keep their order; new ones come after them. */
static void threads_keep_order(struct ui *ui, size_t n)
{
	struct threads_state *st = &ui->threads;
	size_t placed = 0;

	for (size_t k = 0; k < st->drawn_count; k++) {
		for (size_t i = placed; i < n; i++) {
			uint32_t found = st->row[i];

			if (ui->shown->threads[found].slot != st->drawn[k])
				continue;
			st->row[i] = st->row[placed];
			st->row[placed++] = found;
			break;
		}
	}
}

static void threads_select_cursor(struct ui *ui)
{
	struct threads_state *st = &ui->threads;

	st->has_selected = st->list.cursor < st->list.count;
	if (st->has_selected)
		st->selected = threads_row(ui, st->list.cursor)->slot;
}

static void threads_update(struct ui *ui)
{
	struct threads_state *st = &ui->threads;
	size_t n = ui->shown ? ui->shown->nthreads : 0;

	if (!threads_grow(st, n))
		n = 0;
	for (uint32_t i = 0; i < n; i++)
		st->row[i] = i;
	if (n)
		qsort_r(st->row, n, sizeof(*st->row), threads_compare, ui);
	if (ui->hold && !threads_order(ui)->just_chosen)
		threads_keep_order(ui, n);
	threads_order(ui)->just_chosen = false;
	st->drawn_count = n;
	st->list.count = n;
	for (size_t i = 0; i < n; i++) {
		st->drawn[i] = threads_row(ui, i)->slot;
		if (st->list.moved && st->has_selected && st->drawn[i] == st->selected)
			list_follow(&st->list, i);
	}
	list_recount(&st->list, n);
	threads_select_cursor(ui);
}

static void threads_reset(struct ui *ui)
{
	free(ui->threads.row);
	free(ui->threads.drawn);
	ui->threads = (struct threads_state){ .list.height = ui->threads.list.height,
		.order = ui->threads.order,
		.range_order = ui->threads.range_order,
		.diff_order = ui->threads.diff_order };
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* In a diff a row is of all threads of that name, in two processes. */
static void threads_name(const struct ui *ui, const struct snap_thread *t, char *out, size_t cap)
{
	if (!threads_compared(ui) || t->slot == 0)
		snapshot_thread_name(t, out, cap);
	else
		snprintf(out, cap, "%s", t->name[0] ? t->name : "(without a name)");
}

static void threads_cell(
	const struct ui *ui, const struct snap_thread *t, const struct table_place *p, char *out)
{
	char name[128];

	*out = 0;
	if (threads_meaning(ui, p->column) <= BY_RATE && !ui->shown->has_alive) {
		strcpy(out, "-");
		return;
	}
	switch (threads_meaning(ui, p->column)) {
	case BY_LIVE:
		units_bytes(out, t->live_bytes);
		break;
	case BY_SHARE:
		units_percent(out, t->live_bytes, ui->shown->alive_bytes);
		break;
	case BY_RATE:
		if (t->has_rate)
			snapshot_growth_text(ui->shown, t->live_bytes_per_s, out);
		else
			strcpy(out, "-");
		break;
	case BY_ALLOC_RATE:
		units_freq(out, t->allocs_per_s);
		break;
	case BY_FREE_RATE:
		units_freq(out, t->frees_per_s);
		break;
	case BY_FREES:
		units_count(out, t->frees);
		break;
	case BY_FOREIGN:
		units_count(out, t->foreign_frees);
		break;
	case BY_TID:
		if (t->tid)
			sprintf(out, "%" PRIu32, t->tid);
		break;
	case BY_ALLOC_BYTES:
		units_bytes(out, t->alloc_bytes);
		break;
	case BY_ALLOCS:
		units_count(out, t->allocs);
		break;
	case BY_FREE_BYTES:
		units_bytes(out, t->free_bytes);
		break;
	case BY_DELTA:
		units_signed(out, (int64_t)threads_delta(ui, t), units_bytes);
		break;
	case BY_A_ALLOC_BYTES:
		units_bytes(out, threads_a(ui, t)->alloc_bytes);
		break;
	case BY_A_ALLOCS:
		units_count(out, threads_a(ui, t)->allocs);
		break;
	case BY_A_FREES:
		units_count(out, threads_a(ui, t)->frees);
		break;
	case BY_NAME:
		threads_name(ui, t, name, sizeof(name));
		text_elide(out, COLUMN_TEXT_MAX, name, p->cells, false, draw_is_ascii());
	}
}

static void threads_draw_row(const struct ui *ui, size_t row, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = threads_fit(ui, place);
	bool selected = row == ui->threads.list.cursor;
	char text[COLUMN_TEXT_MAX];

	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++) {
		threads_cell(ui, threads_row(ui, row), &place[i], text);
		table_draw_cell(threads_table(ui), place[i], y,
			selected ? STYLE_SELECT : STYLE_PLAIN, text);
	}
}

static void threads_draw(struct ui *ui)
{
	const struct list *l = &ui->threads.list;
	int y = ui->layout.y[ROW_BODY];

	table_draw_head(threads_table(ui), threads_order(ui), ui->layout.y[ROW_HEAD],
		(unsigned)ui->layout.width);
	if (!l->count)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			!ui->shown ? "waiting for the first snapshot"
			: ui->shown->processes
				? "threads belong to a single process: choose it in the "
				  "list (p)"
			: ui->shown->kinds == KINDS_MAPPED || ui->shown->kinds == KINDS_POOL
				? "threads are counted in the heap only: M shows it"
				: "no thread has allocated yet");
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		threads_draw_row(ui, l->top + i, y + (int)i);
}

#define LIVE_OLD_NS UINT64_C(2000000000) /* from this age on, counted live bytes have a date */

/* Blocks are counted by thread only so often that it costs little. */
static void threads_live_text(const struct ui *ui, char *text, size_t cap)
{
	char age[UNITS_MAX];

	if (ui->shown->alive_age_ns < LIVE_OLD_NS)
		snprintf(text, cap, "LIVE: its blocks, whoever frees them");
	else
		snprintf(text, cap, "LIVE: counted %s ago",
			units_duration(age, ui->shown->alive_age_ns));
}

static void threads_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->threads.list;
	size_t end = l->top + l->height < l->count ? l->top + l->height : l->count;
	char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX], live[64];

	threads_live_text(ui, live, sizeof(live));
	if (l->count)
		snprintf(text, cap, "%s-%s of %s thread%s that allocated   %s",
			units_count(a, l->top + 1), units_count(b, end), units_count(c, l->count),
			units_plural(l->count),
			threads_compared(ui)   ? "A and B, by name"
			: threads_ranged(ui)   ? "what each did in the range"
			: ui->shown->has_alive ? live
			: !ui->source->shares  ? "this file has no LIVE by thread"
			: ui_moment(ui) == SNAP_NOW
				? "counting live blocks"
				: "LIVE by thread is known only for the present");
}

static bool threads_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	char name[128];

	threads_name(ui, threads_row(ui, row), name, sizeof(name));
	return filter_match_text(f, name);
}

static void threads_click(struct ui *ui, int y, int x)
{
	size_t row = ui->threads.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (row >= ui->threads.list.count)
		return;
	list_select(&ui->threads.list, row);
	threads_select_cursor(ui);
}

void view_threads_sites(struct ui *ui, int arg, int key)
{
	if (!ui->threads.has_selected || ui_moment(ui) != SNAP_NOW) {
		ui_message(ui, ui->threads.has_selected ? "the sites of a thread are known only "
							  "for the present: F returns to it"
							: "no thread is selected");
		return;
	}
	trail_leave(ui, VIEW_SITES, 1);
	ui->group.by = GROUP_THREAD;
	ui->group.is_inside = true;
	ui->group.inside = ui->threads.selected | GROUPS_THREAD_ID;
	ui->sites.drawn = 0;
	ui->sites.list.moved = false;
	ui_tab(ui, VIEW_SITES);
	refresh_views(ui);
	ui_message(ui, "the call sites of one thread; Esc returns");
}

const struct view view_threads = {
	.title = "Threads",
	.scope = IN_THREADS,
	.update = threads_update,
	.moved = threads_select_cursor,
	.draw = threads_draw,
	.status = threads_status,
	.list = threads_list,
	.click = threads_click,
	.matches = threads_matches,
	.table = threads_table,
	.order = threads_order,
	.reset = threads_reset,
};
