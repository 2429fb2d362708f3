/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One site in depth: what it holds, its whole stack with inlined frames, sizes and lifetimes of its
 * blocks. On a wide screen the histograms stand beside the stack, on a narrow one they follow it in
 * the same list. Main thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/histogram.h"
#include "tui/ink.h"
#include "tui/keys.h"
#include "tui/strip.h"
#include "tui/views.h"

#define WIDE_CELLS   96 /* from here on the histograms stand at the right */
#define FACT_LINES   3
#define FACTS_HEIGHT 9 /* body lines below which the facts scroll with the rest */
#define NUMBER_CELLS 7 /* "  12 > " before a frame's name */

static struct list *detail_list(struct ui *ui)
{
	return &ui->detail.list;
}

static const struct snap_site *detail_site(const struct ui *ui)
{
	return ui_site(ui, ui->detail.site);
}

static bool detail_wide(const struct ui *ui)
{
	return ui->layout.width >= WIDE_CELLS && ui->layout.body_height >= FACTS_HEIGHT;
}

/* Lines of facts that stand still above the list. */
static int detail_fixed(const struct ui *ui)
{
	return ui->layout.body_height >= FACTS_HEIGHT ? FACT_LINES : 0;
}

static struct histogram detail_histogram(const struct ui *ui)
{
	return (struct histogram){ .sizes = ui->detail.histograms.sizes,
		.lifetimes = ui->detail.histograms.lifetimes,
		.known = ui->detail.has_histograms };
}

/* ---- facts -------------------------------------------------------------------------------- */

static void facts_live(const struct ui *ui, const struct snap_site *site, struct strip *s)
{
	char a[UNITS_MAX], b[UNITS_MAX + 8];

	strip_left(s, 90, INK_BOLD, "live %s", units_bytes(a, site->live_bytes));
	if (ui_is_sampled(ui))
		strip_join(s, INK_WARN, " %s%s", ink_ascii() ? "+-" : "±",
			units_bytes(a, site->error.live_bytes));
	strip_left(s, 85, INK_PLAIN, "in %s blocks", units_exact(b, site->live_blocks));
	if (ui_is_sampled(ui))
		strip_join(s, INK_WARN, " %s%s", ink_ascii() ? "+-" : "±",
			units_count(a, site->error.live_blocks));
	strip_left(s, 60, INK_PLAIN, "average %s",
		units_bytes(a, site->live_blocks ? site->live_bytes / site->live_blocks : 0));
	strip_left(s, 70, INK_PLAIN, "peak %s", units_bytes(a, site->peak_live_bytes));
	strip_left(s, 50, INK_PLAIN, "%s%% of all live bytes",
		units_percent(a, site->live_bytes, ui->shown->totals.live_bytes));
	strip_right(s, 87, site->rate_bytes_per_s > 0 ? INK_WARN : INK_PLAIN, "growth %s",
		units_rate(a, site->rate_bytes_per_s));
}

/* What came between the marks that are compared, and how much of it is there. */
static void facts_since(const struct snapshot *snap, const struct snap_site *site, struct strip *s)
{
	const struct snap_since *since = &site->since;
	char text[UNITS_MAX];
	uint64_t bytes = since->bytes < 0 ? -(uint64_t)since->bytes : (uint64_t)since->bytes;

	if (!snap->since)
		return;
	strip_right(s, 75, INK_WARN, "since mark %u: %s%s", snap->since->number,
		since->bytes < 0   ? "-"
		: since->bytes > 0 ? "+"
				   : "",
		units_bytes(text, bytes));
	if (snap->kept && since->kept_of)
		strip_join(s, INK_PLAIN, ", %s%% of %" PRIu64 " new alive",
			units_percent(text,
				since->kept_blocks < since->kept_of ? since->kept_blocks
								    : since->kept_of,
				since->kept_of),
			since->kept_of);
}

static void facts_total(const struct ui *ui, const struct snap_site *site, struct strip *s)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	strip_left(s, 90, INK_PLAIN, "allocated %s", units_bytes(a, site->alloc_bytes));
	strip_left(s, 80, INK_PLAIN, "in %s blocks", units_count(a, site->allocs));
	strip_left(s, 70, INK_PLAIN, "freed %s (%s%%)", units_count(a, site->frees),
		units_percent(b, site->frees, site->allocs));
	strip_left(s, 50, INK_PLAIN, "temporary %s%%",
		units_percent(a, site->temporary, site->allocs));
	strip_right(s, 60, INK_PLAIN, "%s", units_freq(a, site->allocs_per_s));
	facts_since(ui->shown, site, s);
}

/* Where somebody asked for them: a column or a filter. */
static void facts_ages(const struct snap_site *site, struct strip *s)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	if (site->has_ages)
		strip_left(s, 70, INK_PLAIN, "live blocks are %s to %s old",
			units_duration(a, site->youngest_ns), units_duration(b, site->oldest_ns));
}

static void facts_trend(const struct ui *ui, const struct snap_site *site, struct strip *s)
{
	unsigned n =
		site->trend_points < SNAP_TREND_POINTS ? site->trend_points : SNAP_TREND_POINTS;
	char graph[SNAP_TREND_POINTS * 4 + 1], rate[UNITS_MAX], over[UNITS_MAX];

	spark_text(site->trend + SNAP_TREND_POINTS - n, n, ink_glyphs(), graph, sizeof(graph));
	strip_left(s, 90, INK_PLAIN, "trend");
	strip_left(s, 90, INK_INFO, "%s", graph);
	strip_left(s, 60, INK_DIM, "live bytes, last %u ticks", n);
	if (site->growth.sure > 0) {
		strip_left(s, 70, INK_WARN, "grows %s over %s",
			units_rate(rate, site->growth.bytes_per_s),
			units_duration(over, site->growth.over_ns));
		strip_left(s, 65, INK_PLAIN, "in %u of %d parts of it, %.0f%% sure",
			site->growth.parts, SNAP_GROWTH_PARTS, site->growth.sure * 100);
		strip_tight(s);
	} else {
		strip_left(s, 50, INK_DIM, "no lasting growth seen");
	}
	facts_ages(site, s);
	strip_right(s, 80, INK_PLAIN, "by %s", site->alloc_function);
}

static void detail_draw_fact(const struct ui *ui, unsigned i, int y, unsigned cells)
{
	static void (*const facts[FACT_LINES])(const struct ui *, const struct snap_site *,
		struct strip *) = { facts_live, facts_total, facts_trend };
	struct strip s = STRIP_INIT;

	facts[i](ui, detail_site(ui), &s);
	strip_draw(&s, y, 1, cells - 2);
}

/* ---- stack -------------------------------------------------------------------------------- */

/* One line for the function that was called, one per frame, one when the outer end is missing. */
static size_t stack_lines(const struct stack *st)
{
	return 2 + st->nframes + st->truncated;
}

static void stack_draw_rule(const struct stack *st, int y, unsigned cells)
{
	char title[64];

	snprintf(title, sizeof(title), "STACK, %" PRIu32 " frames%s", st->nframes,
		st->resolved ? "" : ", names are coming");
	ink_rule(y, 0, cells, title);
}

static void frame_draw_name(
	const struct ui *ui, const struct frame *f, enum ink ink, int y, unsigned cells)
{
	static const char inlined[] = "  inlined";
	unsigned shift = ui->detail.shift, keep = f->inlined ? sizeof(inlined) - 1 : 0, used;
	char full[COLUMN_TEXT_MAX * 2], name[COLUMN_TEXT_MAX];

	if (cells <= keep + 8)
		keep = 0;
	frame_name(f, ui->names == NAMES_SHORT && shift ? NAMES_FULL : ui->names,
		shift || ui->names != NAMES_SHORT ? 0 : cells - keep, ink_ascii(), full,
		sizeof(full));
	text_elide(name, sizeof(name), full + text_fit(full, shift, NULL), cells - keep, false,
		ink_ascii());
	used = ink_text(y, NUMBER_CELLS, cells - keep, ink, name);
	if (keep)
		ink_text(y, NUMBER_CELLS + (int)used, keep, INK_DIM, inlined);
}

static void frame_draw(
	const struct ui *ui, const struct stack *st, uint32_t i, int y, unsigned cells)
{
	const struct frame *f = &st->frames[i];
	bool here = i == st->title;
	enum ink ink = ui->find && filter_match_frame(ui->find, f) ? INK_SELECT
		       : here					   ? INK_BOLD
		       : f->hidden				   ? INK_DIM
								   : INK_PLAIN;
	unsigned place = cells / 3 > 36 ? 36 : cells / 3, used;
	char text[COLUMN_TEXT_MAX];

	snprintf(text, sizeof(text), "%4" PRIu32 " %s", i, here ? ink_sign(SIGN_HERE) : " ");
	ink_text(y, 0, NUMBER_CELLS, ink, text);
	frame_draw_name(ui, f, ink, y, cells - NUMBER_CELLS - place - 2);
	frame_place(f, place, ink_ascii(), text, sizeof(text));
	used = (unsigned)text_cells(text);
	ink_text(y, (int)(cells - 1 - (used < place ? used : place)), place,
		here ? INK_BOLD : INK_DIM, text);
}

static void stack_draw_line(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, unsigned cells)
{
	const struct stack *st = site->stack;

	if (i == 0)
		stack_draw_rule(st, y, cells);
	else if (i == 1)
		ink_text(y, NUMBER_CELLS, cells - NUMBER_CELLS, INK_DIM, site->alloc_function);
	else if (i - 2 < st->nframes)
		frame_draw(ui, st, (uint32_t)(i - 2), y, cells);
	else
		ink_text(y, NUMBER_CELLS, cells - NUMBER_CELLS, INK_WARN,
			"outer frames are missing (depth limit, or the unwinder stopped)");
}

/* ---- the view ----------------------------------------------------------------------------- */

static int detail_rows(const struct ui *ui)
{
	return ui->layout.body_height - detail_fixed(ui);
}

static void detail_update(struct ui *ui)
{
	struct detail_state *st = &ui->detail;
	const struct snap_site *site = detail_site(ui);
	struct histogram h = detail_histogram(ui);
	size_t count = site ? stack_lines(site->stack) : 0;

	st->list.scroll_only = true;
	if (!ui->frozen || st->histograms.id != st->site) {
		st->has_histograms =
			site && ui->source->detail &&
			!ui->source->detail(ui->source->ctx, ui->shown, st->site, &st->histograms);
		if (!st->has_histograms)
			memset(&st->histograms, 0, sizeof(st->histograms));
		st->histograms.id = st->site;
	}
	if (site && !detail_wide(ui))
		count += histogram_lines(&h);
	if (site && !detail_fixed(ui))
		count += FACT_LINES;
	list_recount(&st->list, count);
}

static void detail_open(struct ui *ui)
{
	ui->detail.list = (struct list){ .scroll_only = true, .height = ui->detail.list.height };
	ui->detail.shift = 0;
	ui->detail.histograms.id = ~ui->detail.site;
}

static void detail_draw_line(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, unsigned cells)
{
	struct histogram h = detail_histogram(ui);
	size_t stack = stack_lines(site->stack), facts = detail_fixed(ui) ? 0 : FACT_LINES;

	if (i < facts)
		detail_draw_fact(ui, (unsigned)i, y, cells);
	else if (i - facts < stack)
		stack_draw_line(ui, site, i - facts, y, cells);
	else
		histogram_draw(&h, i - facts - stack, y, 0, cells);
}

static void detail_draw_pane(const struct ui *ui, int y, int x, unsigned cells)
{
	struct histogram h = detail_histogram(ui);
	size_t lines = histogram_lines(&h);

	for (int i = 0; i < detail_rows(ui); i++) {
		ink_text(y + i, x - 1, 1, INK_DIM, ink_sign(i ? SIGN_VLINE : SIGN_TEE));
		if ((size_t)i < lines)
			histogram_draw(&h, (size_t)i, y + i, x, cells);
	}
}

/* "SITE 17  cache::Shard::insert(…)                    cache.cc:214" */
static void detail_draw_head(const struct ui *ui, const struct snap_site *site)
{
	struct row_style style = ui_style(ui);
	unsigned width = (unsigned)ui->layout.width, place, x;
	int y = ui->layout.y[ROW_HEAD];
	char text[COLUMN_TEXT_MAX], id[32];

	ink_fill(y, 0, width, INK_HEAD);
	if (style.names == NAMES_SHORT)
		style.names = NAMES_FULL;
	style.line_cells = width / 3;
	site_place(site, &style, text, sizeof(text));
	place = (unsigned)text_cells(text);
	ink_text(y, (int)(width - place - 1), place, INK_HEAD, text);
	snprintf(id, sizeof(id), "SITE %" PRIu32, site->id);
	x = 3 + ink_text(y, 1, width - place - 3, INK_HEAD, id);
	style.site_cells = width > place + x + 3 ? width - place - x - 3 : 1;
	site_name(site, &style, text, sizeof(text));
	ink_text(y, (int)x, style.site_cells, INK_HEAD, text);
}

static void detail_draw(struct ui *ui)
{
	const struct snap_site *site = detail_site(ui);
	const struct list *l = &ui->detail.list;
	unsigned width = (unsigned)ui->layout.width, left;
	int y = ui->layout.y[ROW_BODY];

	if (!site) {
		ink_text(y, 2, width - 2, INK_DIM, "this site is no longer there; Esc goes back");
		return;
	}
	detail_draw_head(ui, site);
	for (int i = 0; i < detail_fixed(ui); i++)
		detail_draw_fact(ui, (unsigned)i, y + i, width);
	y += detail_fixed(ui);
	left = detail_wide(ui) ? width * 3 / 5 : width;
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		detail_draw_line(ui, site, l->top + i, y + (int)i, left);
	if (detail_wide(ui))
		detail_draw_pane(ui, y, (int)left + 1, width - left - 1);
}

static bool detail_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	const struct snap_site *site = detail_site(ui);
	size_t before = 2 + (detail_fixed(ui) ? 0 : FACT_LINES);

	return site && row >= before && row - before < site->stack->nframes &&
	       filter_match_frame(f, &site->stack->frames[row - before]);
}

static void detail_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->detail.list;

	snprintf(text, cap, "%s names the site: the first frame that no rule hides (?)   %s",
		ink_sign(SIGN_HERE), list_at_end(l) ? "" : "more below: PgDn or j");
}

const struct view view_detail = {
	.title = "Site detail",
	.scope = IN_DETAIL,
	.wishes = LAYOUT_COMPACT,
	.open = detail_open,
	.update = detail_update,
	.rows = detail_rows,
	.draw = detail_draw,
	.status = detail_status,
	.list = detail_list,
	.matches = detail_matches,
};
