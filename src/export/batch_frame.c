/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One frame of the batch mode (-b): the screen's header as plain lines, then the site table. For
 * pipes, logs and screen readers: no escapes, no trailing blanks, one blank line at the end. Main
 * thread.
 */
#include <stdlib.h>
#include <string.h>
#include "src/export/export.h"
#include "src/model/twins.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define FRAME_WIDTH	 100u
#define FRAME_SORTED	 60u
#define FRAME_SITE_LEAST 16u /* a narrower name is useless: omit other columns first */

/* In the order of the row; `from` is the least width at which a column is shown. */
static const struct {
	enum column column;
	unsigned from;
} frame_columns[] = {
	{ COL_LIVE, 0 },
	{ COL_ERROR, 44 },
	{ COL_PERCENT, 60 },
	{ COL_RATE, 50 },
	{ COL_SINCE, 44 },
	{ COL_SINCE_BLOCKS, 110 },
	{ COL_KEPT, 50 },
	{ COL_TREND, 90 },
	{ COL_BLOCKS, 40 },
	{ COL_AVG, 80 },
	{ COL_PEAK, 120 },
	{ COL_AT_PEAK, 150 },
	{ COL_AT_PEAK_SHARE, 160 },
	{ COL_ALLOCS, 130 },
	{ COL_TEMP, 140 },
	{ COL_ALLOC_RATE, 180 },
	{ COL_BYTE_RATE, 190 },
	{ COL_TEMP_RATE, 1000 },
	{ COL_TEMP_SHARE, 1000 },
	{ COL_FREED_SHARE, 1000 },
	{ COL_AGE, 60 },
	{ COL_FAULTS, 60 },
	{ COL_SITES, 48 },
	{ COL_RETAINED, 172 },
	{ COL_TYPE, 196 },
	{ COL_GROWTH, 116 },
	{ COL_SITE, 0 },
	{ COL_LINE, 70 },
};

#define FRAME_COLUMNS (sizeof(frame_columns) / sizeof(frame_columns[0]))

/* Ends the line, without trailing blanks. */
static void frame_line(struct strbuf *out, size_t from)
{
	while (out->len > from && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_putc(out, '\n');
}

/* Ages are read only on request. */
static bool frame_has_ages(const struct snapshot *s)
{
	for (size_t i = 0; i < s->nsites; i++)
		if (s->sites[i].has_ages)
			return true;
	return false;
}

static unsigned frame_width(const struct export_options *o)
{
	return o->width ? o->width : FRAME_WIDTH;
}

/* The column that rows are sorted by is shown on narrower frames, too. */
static bool frame_shows(const struct snapshot *s, size_t i, const struct export_options *o)
{
	bool sorted = frame_columns[i].column == o->sort;

	/* If every block was recorded, there are no errors to show. */
	if (frame_columns[i].column == COL_ERROR && s->sampling.most == 0)
		return false;
	if (frame_columns[i].column == COL_FAULTS && !s->totals.has_faults)
		return false;
	if (frame_columns[i].column == COL_AGE && !frame_has_ages(s))
		return false;
	if (frame_columns[i].column == COL_RETAINED && !s->has_retained)
		return false;
	if (frame_columns[i].column == COL_TYPE &&
		(o->group == GROUP_TYPE || s->typed.typed.blocks == 0))
		return false;
	/* If each row is a site, there is nothing to count. */
	if (frame_columns[i].column == COL_SITES && !(s->nsites && s->sites[0].group))
		return false;
	/* Without a mark, there is no `since`. */
	if (!s->since && (frame_columns[i].column == COL_SINCE ||
				 frame_columns[i].column == COL_SINCE_BLOCKS ||
				 frame_columns[i].column == COL_KEPT))
		return false;
	return frame_width(o) >= frame_columns[i].from ||
	       (sorted && frame_width(o) >= FRAME_SORTED);
}

/* Once per frame, not per cell: whether there are ages takes all sites. */
static void frame_choose(
	const struct snapshot *s, const struct export_options *o, bool shown[FRAME_COLUMNS])
{
	for (size_t i = 0; i < FRAME_COLUMNS; i++)
		shown[i] = frame_shows(s, i, o);
}

/* Width of the site's name: what the fixed columns leave. */
static unsigned frame_site_cells(const struct export_options *o, const bool shown[FRAME_COLUMNS])
{
	unsigned fixed = 0, width = frame_width(o);

	for (size_t i = 0; i < FRAME_COLUMNS; i++) {
		enum column c = frame_columns[i].column;

		if (c != COL_SITE && shown[i])
			fixed += column_table[c].cells + 1;
	}
	return width > fixed + FRAME_SITE_LEAST ? width - fixed : FRAME_SITE_LEAST;
}

static void frame_process(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	char attached[SNAP_ATTACH_MAX], state[48], age[UNITS_MAX], memory[UNITS_MAX],
		moment[SNAP_MOMENT_MAX];
	unsigned tenths = s->viewer_cpu_percent > 0 && s->viewer_cpu_percent < 1e6
				  ? (unsigned)(s->viewer_cpu_percent * 10 + 0.5)
				  : 0;

	strbuf_printf(out, "heaptop  %s  ", s->command ? s->command : "?");
	if (s->processes)
		strbuf_printf(out, "all %u process%s", s->processes, s->processes == 1 ? "" : "es");
	else
		strbuf_printf(out, "pid %d", (int)s->pid);
	strbuf_printf(out, "  %s", snapshot_state_text(s, state));
	if (s->proc.valid && s->proc.threads)
		strbuf_printf(out, "  %u thr", s->proc.threads);
	strbuf_printf(out, "  up %s", units_duration(age, s->uptime_ns));
	strbuf_printf(out, "  self %u.%u%%cpu %s\n", tenths / 10, tenths % 10,
		units_bytes(memory, s->viewer_rss));
	if (*snapshot_attach_text(s, attached))
		strbuf_printf(out, "%s\n", attached);
	if (s->moment != SNAP_NOW)
		strbuf_printf(out, "! this is %s\n", snapshot_moment_text(s, moment));
	if (s->notice)
		strbuf_printf(out, "! %s\n", s->notice);
}

/* "4 sites", or with a filter "1 of 4 sites": the figures before it cover all sites. */
static void frame_count(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	bool of_all = o->filter && o->group == GROUP_STACK && o->sites;
	size_t count = of_all ? o->sites : s->nsites;
	const char *many = group_table[o->group].many;
	char text[UNITS_MAX];

	if (of_all)
		strbuf_printf(out, "%s of ", units_count(text, s->nsites));
	strbuf_printf(
		out, "%s %.*s", units_count(text, count), (int)strlen(many) - (count == 1), many);
}

static void frame_heap(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_totals *t = &s->totals;
	char live[UNITS_MAX], blocks[UNITS_MAX], peak[UNITS_MAX], when[UNITS_MAX];
	char growth[UNITS_MAX], mode[SNAP_SAMPLING_MAX];

	if (snapshot_unread(s)) {
		strbuf_puts(out, "Live unknown: the heap cannot be read from outside\n");
		return;
	}
	strbuf_printf(out, "Live %s in %s block%s  peak %s @%s  growth %s  ",
		units_bytes(live, t->live_bytes), units_count(blocks, t->live_blocks),
		units_plural(t->live_blocks), units_bytes(peak, t->peak_live_bytes),
		units_duration(when, t->peak_ns), units_rate(growth, t->growth_bytes_per_s));
	frame_count(out, s, o);
	strbuf_printf(out, "  %s", snapshot_sampling_text(s, o->ascii, mode));
	if (s->sampling.measured)
		strbuf_printf(out, "  cost %.1f%%", s->sampling.overhead * 100);
	if (o->filter)
		strbuf_printf(out, "  filter: %s", o->filter);
	strbuf_putc(out, '\n');
}

static void frame_memory(struct strbuf *out, const struct snap_proc *p)
{
	char rss[UNITS_MAX], hwm[UNITS_MAX], pss[UNITS_MAX], swap[UNITS_MAX];
	char minor[UNITS_MAX], major[UNITS_MAX];

	if (!p->valid)
		return;
	/* For a program that ended before the first reading, only the peak is known. */
	strbuf_printf(out, "RSS  %s  hwm %s  pss %s  swap %s  faults %s min %s maj\n",
		p->rss ? units_bytes(rss, p->rss) : "-", units_bytes(hwm, p->hwm),
		p->have_pss ? units_bytes(pss, p->pss) : "-", units_bytes(swap, p->swap),
		units_freq(minor, p->minor_faults_per_s), units_freq(major, p->major_faults_per_s));
}

/* What the other processes of its launch hold, and how many have come and gone. */
static void frame_launch(struct strbuf *out, const struct snap_launch *l)
{
	char a[UNITS_MAX], live[UNITS_MAX];

	if (!l->running && !l->ended)
		return;
	strbuf_printf(out, "Also %s process%s of its launch with %s live",
		units_count(a, l->running), l->running == 1 ? "" : "es",
		units_bytes(live, l->live_bytes));
	strbuf_printf(out, ", %s ended; at least %s live at once\n", units_count(a, l->ended),
		units_bytes(live, l->peak_bytes));
}

static void frame_operations(struct strbuf *out, const struct snap_totals *t)
{
	char allocs[UNITS_MAX], frees[UNITS_MAX], reallocs[UNITS_MAX] = "-";
	char untracked[UNITS_MAX];

	if (!t->no_reallocs)
		units_freq(reallocs, t->reallocs_per_s);
	strbuf_printf(out, "Ops  alloc %s  free %s  realloc %s  untracked %s\n",
		units_freq(allocs, t->allocs_per_s), units_freq(frees, t->frees_per_s), reallocs,
		units_count(untracked, t->untracked_blocks));
}

/* The titles of name and place depend on the grouping. */
static const char *frame_title(const struct snapshot *s, size_t i)
{
	const struct snap_group *group = s->nsites ? s->sites[0].group : NULL;
	const struct group_info *info = &group_table[group ? group->by : GROUP_STACK];
	enum column c = frame_columns[i].column;

	return c == COL_SITE ? info->title : c == COL_LINE ? info->place : column_table[c].title;
}

static void frame_titles(struct strbuf *out, const struct snapshot *s,
	const bool shown[FRAME_COLUMNS], unsigned site_cells)
{
	size_t from = out->len;

	for (size_t i = 0; i < FRAME_COLUMNS; i++) {
		const struct column_info *info = &column_table[frame_columns[i].column];
		int cells = (int)(info->cells ? info->cells : site_cells);

		if (!shown[i])
			continue;
		strbuf_printf(out, "%*s ", info->right ? cells : -cells, frame_title(s, i));
	}
	frame_line(out, from);
}

static void frame_row(struct strbuf *out, const struct snapshot *s, const struct snap_site *site,
	const struct row_style *style, const bool shown[FRAME_COLUMNS])
{
	char cell[COLUMN_TEXT_MAX];
	size_t from = out->len;

	for (size_t i = 0; i < FRAME_COLUMNS; i++) {
		enum column c = frame_columns[i].column;
		unsigned cells = c == COL_SITE ? style->site_cells : column_table[c].cells;

		if (!shown[i])
			continue;
		column_cell(c, s, site, style, cells, cell);
		strbuf_puts(out, cell);
		strbuf_putc(out, ' ');
	}
	frame_line(out, from);
}

static void frame_rows(struct strbuf *out, const struct snapshot *s, const struct export_options *o,
	const struct row_style *style, const bool shown[FRAME_COLUMNS])
{
	size_t rows = o->top && o->top < s->nsites ? o->top : s->nsites;
	uint32_t *order = malloc((s->nsites ? s->nsites : 1) * sizeof(*order));
	struct twins *twins = malloc(sizeof(*twins));

	if (!order || !twins) {
		free(order);
		free(twins);
		out->failed = true;
		return;
	}
	sites_sort(s, o->sort, o->reverse, order);
	for (size_t i = 0; i < rows; i++) {
		struct row_style own = *style;
		char twin[TWINS_TEXT];

		own.twin = twins_row(twins, s, order, i, rows, style, twin);
		frame_row(out, s, &s->sites[order[i]], &own, shown);
	}
	free(twins);
	free(order);
}

void export_frame(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct row_style style = {
		.glyphs = o->ascii ? GLYPHS_ASCII : GLYPHS_BLOCKS,
		.names = o->names,
		.show_hidden = o->show_hidden,
		.line_cells = column_table[COL_LINE].cells,
	};
	bool shown[FRAME_COLUMNS];

	frame_choose(s, o, shown);
	style.site_cells = frame_site_cells(o, shown);
	frame_process(out, s, o);
	frame_heap(out, s, o);
	frame_memory(out, &s->proc);
	frame_operations(out, &s->totals);
	frame_launch(out, &s->launch);
	frame_titles(out, s, shown, style.site_cells);
	frame_rows(out, s, o, &style, shown);
	strbuf_putc(out, '\n');
}
