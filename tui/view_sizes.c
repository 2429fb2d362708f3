/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sizes and lifetimes of blocks: of the whole program and, beside it or below, of the call site
 * selected in the table; in a diff of B and of A. Main thread.
 */
#include "tui/view_sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/histogram.h"

#define WIDE_CELLS 96 /* from this width on, the site is at the right */

static struct list *sizes_list(struct ui *ui)
{
	return &ui->sizes.list;
}

/* At the peak: by the average of each site's blocks, as the sizes of that time are not recorded. */
static void sizes_at_peak(struct ui *ui)
{
	struct snap_size *out = ui->sizes.at_peak;

	memset(out, 0, sizeof(ui->sizes.at_peak));
	for (size_t i = 0; i < ui->shown->nsites; i++) {
		const struct snap_site *s = &ui->shown->sites[i];
		unsigned bucket = 0;

		while (s->live_blocks && s->live_bytes / s->live_blocks > snap_size_le(bucket))
			bucket++;
		out[bucket].live_blocks += s->live_blocks;
		out[bucket].live_bytes += s->live_bytes;
	}
}

static struct histogram sizes_program(const struct ui *ui)
{
	static const uint64_t no_lifetimes[SNAP_LIFE_BUCKETS];

	if (ui_moment(ui) == SNAP_PEAK)
		return (struct histogram){
			.sizes = ui->sizes.at_peak, .lifetimes = no_lifetimes, .live_only = true
		};
	if (ui->shown->range)
		return (struct histogram){ .sizes = ui->shown->range->sizes,
			.lifetimes = ui->shown->range->lifetimes,
			.in_range = true,
			.known = true };
	return (struct histogram){
		.sizes = ui->shown->sizes, .lifetimes = ui->shown->lifetimes, .known = true
	};
}

/* At the right: the selected site's, or, in a diff, those of A. */
static struct histogram sizes_site(const struct ui *ui)
{
	const struct snap_versus *a = ui->shown ? ui->shown->versus : NULL;

	if (a)
		return (struct histogram){
			.sizes = a->sizes, .lifetimes = a->lifetimes, .known = true
		};
	return (struct histogram){ .sizes = ui->sizes.site.sizes,
		.lifetimes = ui->sizes.site.lifetimes,
		.known = ui->sizes.has_site };
}

static bool sizes_wide(const struct ui *ui)
{
	return ui->layout.width >= WIDE_CELLS;
}

static void sizes_update(struct ui *ui)
{
	struct sizes_state *st = &ui->sizes;
	uint32_t id = ui->sites.selected;
	const struct snap_site *row = ui_site(ui, id);
	bool sum = row && ignored_is_row(row);
	struct histogram h;
	size_t program, site;

	st->list.scroll_only = true;
	if (!ui->shown) {
		list_recount(&st->list, 0);
		return;
	}
	if (ui_moment(ui) == SNAP_PEAK)
		sizes_at_peak(ui);
	if (ui_moment(ui) != SNAP_NOW) { /* kept of the whole program alone */
		st->has_site = false;
		memset(&st->site, 0, sizeof(st->site));
	} else if (!ui->frozen || st->site.id != id || !st->has_site) {
		st->has_site = ui->sites.has_selected && ui->source->detail && !sum &&
			       ui->source->detail(ui->source->ctx, ui->shown, id, &st->site) == 0;
		if (!st->has_site)
			memset(&st->site, 0, sizeof(st->site));
	}
	/* Each histogram has a line with a name above it. */
	h = sizes_program(ui);
	program = histogram_lines(&h) + 1;
	h = sizes_site(ui);
	site = histogram_lines(&h) + 1;
	st->program_lines = program;
	if (sizes_wide(ui))
		list_recount(&st->list, program > site ? program : site);
	else
		list_recount(&st->list, program + site);
}

static void sizes_range_title(const struct snap_range *r, char *text, size_t cap)
{
	uint64_t allocs = 0, frees = 0;
	char a[UNITS_MAX], b[UNITS_MAX];

	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		allocs += r->sizes[i].allocs;
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		frees += r->lifetimes[i];
	snprintf(text, cap, "in the range   %s block%s allocated, %s freed", units_count(a, allocs),
		units_plural(allocs), units_count(b, frees));
}

/* A diff's side: "B (new.json)   3 live blocks   5 allocated" */
static void sizes_side_title(
	const char *name, uint64_t live_blocks, uint64_t allocs, char *text, size_t cap)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	snprintf(text, cap, "%s   %s live block%s   %s allocated", name,
		units_count(a, live_blocks), units_plural(live_blocks), units_count(b, allocs));
}

static void sizes_program_line(const struct ui *ui, size_t i, int y, unsigned cells)
{
	struct histogram h = sizes_program(ui);
	char a[UNITS_MAX], b[UNITS_MAX], text[128], cut[128];

	if (i > 0 && i <= histogram_lines(&h)) {
		histogram_draw(&h, i - 1, y, 0, cells);
	} else if (i == 0) {
		if (ui->shown->range)
			sizes_range_title(ui->shown->range, text, sizeof(text));
		else if (ui_moment(ui) == SNAP_PEAK)
			snprintf(text, sizeof(text),
				"at the peak   %s live blocks, by site averages",
				units_count(a, ui->shown->totals.live_blocks));
		else if (ui->shown->versus)
			sizes_side_title(ui->shown->until->name, ui->shown->totals.live_blocks,
				ui->shown->totals.allocs, text, sizeof(text));
		else
			snprintf(text, sizeof(text),
				"whole program   %s live blocks   %s allocated",
				units_count(a, ui->shown->totals.live_blocks),
				units_count(b, ui->shown->totals.allocs));
		text_elide_parts(cut, sizeof(cut), text, cells - 2, draw_is_ascii());
		draw_text(y, 1, cells - 2, STYLE_BOLD, cut);
	}
}

/* The number of sites in the selected row of the table; the histograms are those of the oldest. */
static uint32_t sizes_row_sites(const struct ui *ui)
{
	for (size_t i = 0; ui->listed && i < ui->listed->nsites; i++)
		if (ui->listed->sites[i].id == ui->sites.selected)
			return ui->listed->sites[i].group ? ui->listed->sites[i].group->sites : 1;
	return 1;
}

static void sizes_versus_name(const struct ui *ui, int y, int x, unsigned cells)
{
	const struct snap_versus *a = ui->shown->versus;
	char text[128];

	sizes_side_title(ui->shown->since->name, a->live_blocks, a->allocs, text, sizeof(text));
	draw_text(y, x + 1, cells - 2, STYLE_BOLD, text);
}

static void sizes_site_name(const struct ui *ui, int y, int x, unsigned cells)
{
	const struct snap_site *site = ui_site(ui, ui->sites.selected);
	struct row_style style = ui_style(ui);
	char text[COLUMN_TEXT_MAX], id[48];
	unsigned used;

	if (!site || !ui->sites.has_selected) {
		draw_text(y, x + 1, cells - 2, STYLE_DIM, "no site is selected in the table");
		return;
	}
	if (sizes_row_sites(ui) > 1)
		snprintf(id, sizeof(id), "site %" PRIu32 ", one of %" PRIu32, site->id,
			sizes_row_sites(ui));
	else
		snprintf(id, sizeof(id), "site %" PRIu32, site->id);
	used = draw_text(y, x + 1, cells - 2, STYLE_BOLD, id) + 3;
	style.site_cells = cells > used + 2 ? cells - used - 2 : 1;
	site_name(site, &style, text, sizeof(text));
	draw_text(y, x + (int)used, style.site_cells, STYLE_BOLD, text);
}

static void sizes_site_line(const struct ui *ui, size_t i, int y, int x, unsigned cells)
{
	struct histogram h = sizes_site(ui);

	if (i == 0 && ui->shown->versus)
		sizes_versus_name(ui, y, x, cells);
	else if (i == 0)
		sizes_site_name(ui, y, x, cells);
	else if (i <= histogram_lines(&h))
		histogram_draw(&h, i - 1, y, x, cells);
}

static void sizes_draw_line(const struct ui *ui, size_t i, int y)
{
	unsigned width = (unsigned)ui->layout.width, left = width * 11 / 20;

	if (sizes_wide(ui)) {
		sizes_program_line(ui, i, y, left);
		draw_text(y, (int)left, 1, STYLE_DIM, draw_glyph(GLYPH_VLINE));
		sizes_site_line(ui, i, y, (int)left + 1, width - left - 1);
	} else if (i < ui->sizes.program_lines) {
		sizes_program_line(ui, i, y, width);
	} else {
		sizes_site_line(ui, i - ui->sizes.program_lines, y, 0, width);
	}
}

static void sizes_draw(struct ui *ui)
{
	const struct list *l = &ui->sizes.list;

	if (!ui->shown)
		draw_text(ui->layout.y[ROW_BODY], 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			"waiting for the first snapshot");
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		sizes_draw_line(ui, l->top + i, ui->layout.y[ROW_BODY] + (int)i);
}

static void sizes_status(struct ui *ui, char *text, size_t cap)
{
	snprintf(text, cap, "bars: %s blocks by size, freed blocks by lifetime%s",
		ui->shown && ui->shown->range ? "allocated" : "live",
		list_at_end(&ui->sizes.list) ? "" : "   more below: PgDn");
}

void view_sizes_neighbour(struct ui *ui, int step, int key)
{
	size_t before = ui->sites.list.cursor;

	list_go(&ui->sites.list, step < 0 ? LIST_UP : LIST_DOWN);
	view_table[VIEW_SITES]->moved(ui);
	if (ui->sites.list.cursor == before)
		ui_message(ui, "this is the %s site", step < 0 ? "first" : "last");
	sizes_update(ui);
}

const struct view view_sizes = {
	.title = "Sizes",
	.scope = IN_SIZES,
	.flags = LAYOUT_NO_HEAD,
	.update = sizes_update,
	.draw = sizes_draw,
	.status = sizes_status,
	.list = sizes_list,
};
