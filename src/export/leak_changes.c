/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One leak scan of a series as text: by class and call site, the changes since the previous scan.
 */
#include "src/export/export.h"
#include "src/model/site_index.h"
#include "src/util/clock.h"
#include "src/util/units.h"

/* "+1,500 bytes, +2 blocks" */
static void change_put(
	struct strbuf *out, const struct snap_leak_sum *now, const struct snap_leak_sum *then)
{
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8];
	bool more = now->bytes >= then->bytes, more_blocks = now->blocks >= then->blocks;
	uint64_t n = more_blocks ? now->blocks - then->blocks : then->blocks - now->blocks;
	uint64_t size = more ? now->bytes - then->bytes : then->bytes - now->bytes;

	strbuf_printf(out, "%c%s byte%s, %c%s block%s", more ? '+' : '-', units_exact(bytes, size),
		units_plural(size), more_blocks ? '+' : '-', units_exact(blocks, n),
		units_plural(n));
}

static bool is_same(const struct snap_leak_sum *a, const struct snap_leak_sum *b)
{
	return a->bytes == b->bytes && a->blocks == b->blocks;
}

static void class_put(struct strbuf *out, const struct snap_leaks *l, enum snap_leak_class class)
{
	const struct snap_leak_sum *now = &l->rounds[l->nrounds - 1].sum[class];
	const struct snap_leak_sum *then =
		l->nrounds > 1 ? &l->rounds[l->nrounds - 2].sum[class] : NULL;
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8];

	strbuf_printf(out, "  %-9s %s byte%s in %s block%s", snapshot_leak_word(class),
		units_exact(bytes, now->bytes), units_plural(now->bytes),
		units_exact(blocks, now->blocks), units_plural(now->blocks));
	if (then && !is_same(now, then)) {
		strbuf_puts(out, " (");
		change_put(out, now, then);
		strbuf_putc(out, ')');
	}
	strbuf_putc(out, '\n');
}

/* As in the report: indirectly lost blocks are reported only in the sum of their class. */
static bool is_shown(const struct snap_leak_site *row)
{
	return !row->suppressed &&
	       (row->class == SNAP_LEAK_DEFINITE || row->class == SNAP_LEAK_POSSIBLE);
}

/* `now` NULL: the site has no leaks any more. */
static void site_put(struct strbuf *out, const struct site_index *by_id,
	const struct snap_leak_site *row, const struct snap_leak_sum *now,
	const struct export_options *o)
{
	const struct snap_leak_sum none = { 0, 0 };
	const struct snap_leak_sum *then = !now ? &row->sum : row->seen > 1 ? &row->before : &none;
	const struct snap_site *site = site_index_find(by_id, row->site);
	struct row_style style = { .names = o->names, .show_hidden = o->show_hidden };
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8];
	char name[COLUMN_TEXT_MAX] = "?", place[COLUMN_TEXT_MAX] = "";

	if (site) {
		site_name(site, &style, name, sizeof(name));
		site_place(site, &style, place, sizeof(place));
	}
	strbuf_puts(out, "  ");
	change_put(out, now ? now : &none, then);
	strbuf_printf(out, ": %s", snapshot_leak_word(row->class));
	if (!now)
		strbuf_puts(out, ", none left");
	else if (then->blocks)
		strbuf_printf(out, ", now %s byte%s in %s block%s", units_exact(bytes, now->bytes),
			units_plural(now->bytes), units_exact(blocks, now->blocks),
			units_plural(now->blocks));
	else
		strbuf_puts(out, ", new");
	strbuf_printf(out, ": %s%s%s\n", name, *place ? "  " : "", place);
}

static bool is_changed(const struct snap_leak_site *row)
{
	return is_shown(row) && (row->seen < 2 || !is_same(&row->sum, &row->before));
}

static void sites_put(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_leaks *l = s->leaks;
	size_t changed = 0;
	char left[UNITS_MAX + 8];
	struct site_index by_id;

	site_index_make(&by_id, s);
	for (size_t i = 0; i < l->nsites; i++)
		if (is_changed(&l->sites[i]) && (changed++ < o->top || o->top == 0))
			site_put(out, &by_id, &l->sites[i], &l->sites[i].sum, o);
	for (size_t i = 0; i < l->ngone; i++)
		if (is_shown(&l->gone[i]) && (changed++ < o->top || o->top == 0))
			site_put(out, &by_id, &l->gone[i], NULL, o);
	site_index_free(&by_id);
	if (o->top && changed > o->top)
		strbuf_printf(
			out, "  %s more call sites changed\n", units_exact(left, changed - o->top));
	else if (changed == 0 && l->nrounds > 1)
		strbuf_puts(out, "  no call site changed since the previous scan\n");
}

/* "leak scan 2 of process 4711, ./worker, at ..." */
static void head_put(struct strbuf *out, const struct snapshot *s, bool of_other)
{
	const struct snap_leak_round *r = &s->leaks->rounds[s->leaks->nrounds - 1];
	char time[32], up[UNITS_MAX], stop[UNITS_MAX];

	strbuf_printf(out, "leak scan %u", r->number);
	if (of_other)
		strbuf_printf(out, " of process %d, %s,", (int)s->pid, s->command);
	strbuf_printf(out, " at %s, %s after the start; the program was stopped for %s\n",
		clock_iso8601(time, s->start_realtime_ns + r->ns), units_duration(up, r->ns),
		units_duration(stop, r->stop_ns));
}

void export_leak_round(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o, bool of_other)
{
	const struct snap_leaks *l = s->leaks;
	char time[32];

	if (l->failed || l->nrounds == 0) {
		strbuf_printf(out, "leak scan at %s: %s\n\n",
			clock_iso8601(time, s->now_realtime_ns), l->failed ? l->failed : "none");
		return;
	}
	head_put(out, s, of_other);
	for (unsigned i = 0; i < SNAP_LEAK_REACHABLE; i++)
		class_put(out, l, (enum snap_leak_class)i);
	sites_put(out, s, o);
	strbuf_putc(out, '\n');
}
