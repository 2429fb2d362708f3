/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drawing the timeline (time_strip.h). A bar reaches from the base (zero, or the least of all) to
 * the highest value of its time; what is above the lowest is dim. The axis has, in this order of
 * importance, the cursor's time, the start of the range, flags, and times. Called by screen.c and
 * header.c for each frame, on the main thread.
 */
#include "tui/time_strip.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/moment_words.h"
#include "tui/shown_moment.h"

#define LEAST_CELLS 8 /* a shorter graph says nothing */
#define LABEL_CELLS 7 /* the scale, at the left */
#define FACTS_CELLS 27 /* what is kept, at the right, */
#define FACTS_WIDTH 76 /* from this width of the screen on */
#define MISSING_PART                                                                               \
	8 /* one line shows the timeline if at most this part of the time is missing               \
	   */
#define LABEL_EACH 9 /* least cells from one time on the axis to the next */

#define COUNTS_WIDTH                                                                               \
	100 /* from this width of the screen on, one line has all counts beside the graph */

#define SECOND 1000000000ull
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

void time_strip_counts(const struct snapshot *snap, struct infoline *s)
{
	const struct snap_totals *t = &snap->totals;
	char a[UNITS_MAX], b[UNITS_MAX];

	infoline_right(s, 80, STYLE_PLAIN, "%s block%s", units_count(a, t->live_blocks),
		units_plural(t->live_blocks));
	infoline_right(s, 70, STYLE_PLAIN, "%s site%s", units_count(a, snap->nsites),
		units_plural(snap->nsites));
	if (t->untracked_blocks)
		infoline_right(s, 85, STYLE_BAD, "untracked %s/%s",
			units_count(a, t->untracked_blocks), units_bytes(b, t->untracked_bytes));
	else
		infoline_right(s, 65, STYLE_PLAIN, "untracked 0");
}

/* ---- where -------------------------------------------------------------------------------- */

struct place {
	int x;
	unsigned cells;
};

/* The clock at the left of a line without an axis, and the counts at its right. */
static void line_facts(const struct ui *ui, struct infoline *s)
{
	char clock[UNITS_MAX];

	/* Only the heap has a history. */
	infoline_left(s, 60, STYLE_INFO, "%5s%s", units_uptime(clock, shown_moment_newest_ns(ui)),
		ui->current->kinds ? " heap" : "");
	if (ui->layout.width >= COUNTS_WIDTH)
		time_strip_counts(ui->current, s);
	else
		infoline_right(s, 80, STYLE_PLAIN, "%s block%s",
			units_count(clock, ui->current->totals.live_blocks),
			units_plural(ui->current->totals.live_blocks));
	if (ui->layout.width < COUNTS_WIDTH && ui->current->totals.untracked_blocks)
		infoline_right(s, 85, STYLE_BAD, "untracked %s",
			units_count(clock, ui->current->totals.untracked_blocks));
}

static struct place line_place(const struct ui *ui, unsigned width)
{
	struct infoline s = INFOLINE_INIT;
	unsigned used, edge = 2 * INFOLINE_GAP + 2;

	line_facts(ui, &s);
	used = infoline_fit(&s, width - 2);
	return (struct place){ 2 + (int)text_cells(s.item[0].text),
		width > used + edge ? width - used - edge : 0 };
}

static bool has_facts(unsigned width)
{
	return width >= FACTS_WIDTH;
}

static struct place strip_place(const struct ui *ui, unsigned width)
{
	unsigned taken = LABEL_CELLS + 3 + (has_facts(width) ? FACTS_CELLS : 0);

	if (ui->layout.history_height == 1)
		return line_place(ui, width);
	return (struct place){ LABEL_CELLS + 2, width > taken ? width - taken : 0 };
}

/* One line has room for one graph: that of the whole run, unless the timeline is needed. */
static bool says_enough(const struct ui *ui, const struct timeline *t)
{
	return ui->layout.history_height > 1 || shown_moment_is_elsewhere(ui) || t->replay ||
	       (t->npoints > 1 && t->points[0].ns <= shown_moment_newest_ns(ui) / MISSING_PART);
}

void time_strip_update(struct ui *ui)
{
	const struct timeline *t = ui->current ? ui_timeline(ui) : NULL;
	struct moments_state *st = &ui->moments;
	struct place p = { 0 };

	if (t && ui->layout.history_height > 0 && says_enough(ui, t))
		p = strip_place(ui, (unsigned)ui->layout.width);
	if (p.cells < LEAST_CELLS) {
		st->strip.count = st->strip_cells = 0;
		return;
	}
	st->strip_x = p.x;
	if (st->strip_cells == p.cells && st->strip_tick == ui->ticks &&
		st->strip_points == t->npoints && st->strip_owner == ui->current->owner)
		return;
	st->strip_cells = p.cells;
	st->strip_tick = ui->ticks;
	st->strip_points = t->npoints;
	st->strip_owner = ui->current->owner;
	strip_make(&st->strip, t, p.cells);
}

int time_strip_cell(const struct ui *ui, int x)
{
	const struct moments_state *st = &ui->moments;
	int cell = x - st->strip_x;

	if (!st->strip.count)
		return -1;
	if (cell < 0)
		return 0;
	return cell < (int)st->strip.count ? cell : (int)st->strip.count - 1;
}

/* ---- the graph ---------------------------------------------------------------------------- */

/* What each cell is besides a part of the graph. */
struct places {
	int cursor, start; /* cells, -1: none */
	int first, last; /* cells of the range */
};

static struct places places_of(const struct ui *ui)
{
	const struct strip *s = &ui->moments.strip;
	struct places p = { -1, -1, 0, -1 };
	uint64_t from, to;

	if (shown_moment_cursor(ui, &from))
		p.cursor = (int)strip_cell_at(s, from);
	if (ui->moments.has_start)
		p.start = (int)strip_cell_at(s, ui->moments.start_ns);
	if (shown_moment_range(ui, &from, &to)) {
		p.first = (int)strip_cell_at(s, from);
		p.last = (int)strip_cell_at(s, to);
	}
	return p;
}

static bool in_range(const struct places *p, int cell)
{
	return cell >= p->first && cell <= p->last;
}

/* The level of a value, of all levels in `rows` cells. What is known is at least one level high;
 * the highest level stays free, so that the line does not merge with what is above it. */
static unsigned level_of(const struct strip *s, uint64_t value, unsigned rows)
{
	unsigned all = rows * graphs_levels(draw_glyph_set()) - 1;
	double range = (double)(s->high - s->base);

	if (s->high <= s->base || value <= s->base)
		return 1;
	return 1 + (unsigned)((double)(value - s->base) / range * (all - 1) + 0.5);
}

/* One cell of the graph, `row` from the bottom of `rows`. */
static void graph_cell(const struct ui *ui, const struct places *p, int y, unsigned cell,
	unsigned row, unsigned rows)
{
	const struct strip *s = &ui->moments.strip;
	const struct strip_cell *c = &s->cell[cell];
	unsigned each = graphs_levels(draw_glyph_set()), below = row * each;
	unsigned high = c->known ? level_of(s, c->high, rows) : 0;
	unsigned low = c->known ? level_of(s, c->low, rows) : 0;
	enum draw_style style = low <= below && row > 0 ? STYLE_DIM : STYLE_GOOD;
	const char *glyph = graphs_cell(draw_glyph_set(), high > below ? high - below : 0);

	if (in_range(p, (int)cell))
		style = STYLE_INFO;
	if (in_range(p, (int)cell) && *glyph == ' ')
		glyph = draw_glyph(GLYPH_SHADE);
	if ((int)cell == p->start)
		style = STYLE_SELECT;
	if ((int)cell == p->cursor)
		style = STYLE_MOMENT;
	draw_text(y, ui->moments.strip_x + (int)cell, 1, style, glyph);
}

static void graph_draw(const struct ui *ui, int y, unsigned rows)
{
	struct places p = places_of(ui);

	for (unsigned row = 0; row < rows; row++)
		for (unsigned cell = 0; cell < ui->moments.strip.count; cell++)
			graph_cell(ui, &p, y + (int)(rows - 1 - row), cell, row, rows);
}

/* ---- the axis ----------------------------------------------------------------------------- */

struct axis_cell {
	char glyph[8];
	enum draw_style style;
	bool taken;
};

struct axis {
	struct axis_cell cell[STRIP_CELLS];
	unsigned cells;
};

static bool axis_is_free(const struct axis *a, int at, int cells)
{
	for (int i = at; i < at + cells; i++)
		if (i < 0 || i >= (int)a->cells || a->cell[i].taken)
			return false;
	return true;
}

static void axis_put(struct axis *a, int at, enum draw_style style, const char *glyph)
{
	if (!axis_is_free(a, at, 1))
		return;
	a->cell[at].style = style;
	a->cell[at].taken = true;
	snprintf(a->cell[at].glyph, sizeof(a->cell[at].glyph), "%s", glyph);
}

static bool axis_is_taken(const struct axis *a, int at)
{
	return at >= 0 && at < (int)a->cells && a->cell[at].taken;
}

/* No text next to it, with which it would read as one. */
static bool axis_has_margin(const struct axis *a, int at, int cells)
{
	return !axis_is_taken(a, at - 1) && !axis_is_taken(a, at + cells);
}

/* ASCII text around or from `at`; not at all unless there is room. */
static void axis_text(struct axis *a, int at, bool centred, enum draw_style style, const char *text)
{
	int cells = (int)strlen(text);

	if (centred) {
		at -= cells / 2;
		at = at + cells > (int)a->cells ? (int)a->cells - cells : at;
		at = at < 0 ? 0 : at;
	}
	if (!axis_is_free(a, at, cells) || (centred && !axis_has_margin(a, at, cells)))
		return;
	for (int i = 0; i < cells; i++)
		axis_put(a, at + i, style, (char[]){ text[i], 0 });
}

static void axis_cursors(const struct ui *ui, const struct places *p, struct axis *a)
{
	char clock[UNITS_MAX];
	uint64_t ns = 0;

	if (p->cursor >= 0 && shown_moment_cursor(ui, &ns))
		axis_text(a, p->cursor, true, STYLE_MOMENT, moment_words_clock(ui, ns, clock));
	if (p->start >= 0)
		axis_text(a, p->start, true, STYLE_SELECT,
			moment_words_clock(ui, ui->moments.start_ns, clock));
	if (p->start >= 0) /* the other's time is in the way */
		axis_put(a, p->start, STYLE_SELECT, draw_glyph(GLYPH_VLINE));
}

/* The time of the peak, as the header has it; if it is not on the line, of its highest tick. */
static uint64_t highest_ns(const struct ui *ui)
{
	const struct strip *s = &ui->moments.strip;
	const struct timeline *t = ui_timeline(ui);
	const struct snapshot *newest = ui_newest(ui);
	size_t i = s->cell[s->high_cell].point;

	if (newest && newest->totals.peak_ns >= s->from_ns &&
		newest->totals.peak_ns <= newest->uptime_ns)
		return newest->totals.peak_ns;
	return t && i < t->npoints ? t->points[i].ns : 0;
}

/* The peak with its time. */
static void axis_peak(const struct ui *ui, struct axis *a)
{
	const struct strip *s = &ui->moments.strip;
	uint64_t ns = highest_ns(ui);
	int at = (int)strip_cell_at(s, ns), cells;
	char clock[UNITS_MAX];

	if (!s->high || !ns)
		return;
	cells = (int)strlen(moment_words_clock(ui, ns, clock));
	if (!axis_is_free(a, at, 1))
		return;
	axis_put(a, at, STYLE_BOLD, draw_glyph(GLYPH_UP));
	if (axis_is_free(a, at + 1, cells) && !axis_is_taken(a, at + 1 + cells))
		axis_text(a, at + 1, false, STYLE_BOLD, clock);
	else if (!axis_is_taken(a, at - cells - 1))
		axis_text(a, at - cells, false, STYLE_BOLD, clock);
}

/* Lost events first, then the peak, then marks, then changes of the sampling rate. */
static void axis_flags(const struct ui *ui, struct axis *a)
{
	const struct snapshot *snap = ui->current;
	const struct strip *s = &ui->moments.strip;

	for (unsigned i = 0; i < s->count; i++)
		if (s->cell[i].lost)
			axis_put(a, (int)i, STYLE_BAD, "!");
	axis_peak(ui, a);
	for (const struct snap_mark *m = snap->moments; m; m = m->before)
		if (m->ns >= s->from_ns)
			axis_put(a, (int)strip_cell_at(s, m->ns), STYLE_WARN, "m");
	for (unsigned i = 0; i < snap->sampling.marks; i++)
		if (snap->sampling.mark[i].ns > s->from_ns)
			axis_put(a, (int)strip_cell_at(s, snap->sampling.mark[i].ns), STYLE_WARN,
				draw_glyph(GLYPH_VLINE));
}

/* The round time between two labels. */
static uint64_t axis_interval(const struct strip *s)
{
	static const uint64_t rounds[] = { SECOND / 10, SECOND / 5, SECOND / 2, SECOND, 2 * SECOND,
		5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE,
		10 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR,
		12 * HOUR };
	uint64_t least =
		s->step_ns > UINT64_MAX / LABEL_EACH ? UINT64_MAX : s->step_ns * LABEL_EACH;

	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++)
		if (rounds[i] >= least)
			return rounds[i];
	return (least / (24 * HOUR) + 1) * 24 * HOUR;
}

static void axis_times(const struct ui *ui, struct axis *a)
{
	const struct strip *s = &ui->moments.strip;
	uint64_t each = axis_interval(s), at = s->from_ns + (each - s->from_ns % each) % each;
	char text[UNITS_MAX + 4], clock[UNITS_MAX];

	for (unsigned n = 0; n < STRIP_CELLS && at >= s->from_ns; n++, at += each) {
		uint64_t cell = (at - s->from_ns) / s->step_ns;

		if (cell >= s->count)
			break;
		units_uptime(clock, at);
		if (each < SECOND)
			snprintf(text, sizeof(text), "%s.%u", clock,
				(unsigned)(at % SECOND * 10 / SECOND));
		else
			snprintf(text, sizeof(text), "%s", clock);
		/* A blank between it and what is there. */
		if (axis_has_margin(a, (int)cell, (int)strlen(text)))
			axis_text(a, (int)cell, false, STYLE_DIM, text);
	}
}

/* The range as a line between its ends, under which the times do not show. */
static void axis_range(const struct places *p, struct axis *a)
{
	for (int i = p->first; i <= p->last; i++)
		axis_put(a, i, STYLE_INFO, draw_glyph(GLYPH_HLINE));
}

static void axis_draw(const struct ui *ui, int y)
{
	static struct axis axis; /* large, and only the main thread draws */
	struct places p = places_of(ui);

	memset(&axis, 0, sizeof(axis));
	axis.cells = ui->moments.strip_cells < STRIP_CELLS ? ui->moments.strip_cells : STRIP_CELLS;
	axis_cursors(ui, &p, &axis);
	axis_flags(ui, &axis);
	axis_range(&p, &axis);
	axis_times(ui, &axis);
	for (unsigned i = 0; i < axis.cells; i++)
		if (axis.cell[i].taken)
			draw_text(y, ui->moments.strip_x + (int)i, 1, axis.cell[i].style,
				axis.cell[i].glyph);
}

/* ---- what is kept ------------------------------------------------------------------------- */

#define FACTS 6

struct facts {
	struct {
		char text[FACTS_CELLS * 4];
		enum draw_style style;
	} line[FACTS];
	unsigned count;
};

static void facts_add(
	struct facts *f, enum draw_style style, const char *a, const char *b, const char *c)
{
	if (f->count < FACTS) {
		f->line[f->count].style = style;
		snprintf(f->line[f->count].text, sizeof(f->line[0].text), "%s%s%s", a, b, c);
		f->count++;
	}
}

static const char *of_limit(char buf[UNITS_MAX + 8], uint64_t limit)
{
	char text[UNITS_MAX];

	buf[0] = 0;
	if (limit)
		snprintf(buf, UNITS_MAX + 8, " of %s", units_bytes(text, limit));
	return buf;
}

static const char *file_name(const struct timeline *t)
{
	const char *slash = strrchr(t->file, '/');

	return slash && slash[1] ? slash + 1 : t->file;
}

static void facts_file(const struct timeline *t, struct facts *f)
{
	char text[96], size[UNITS_MAX], rate[UNITS_MAX], of[UNITS_MAX + 8];
	const char *name = file_name(t);

	if (t->replay) {
		facts_add(f, STYLE_PLAIN, "replay ", name, "");
	} else if (t->trouble) {
		facts_add(f, STYLE_BAD, "! ", t->trouble, "");
	} else {
		snprintf(text, sizeof(text), "%s%s %s/s", units_bytes(size, t->file_bytes),
			of_limit(of, t->file_limit_bytes),
			units_bytes(
				rate, t->file_bytes_per_s > 0 ? (uint64_t)t->file_bytes_per_s : 0));
		facts_add(f, STYLE_PLAIN, "rec ", text, "");
	}
}

static void facts_make(
	const struct ui *ui, const struct timeline *t, unsigned lines, struct facts *f)
{
	const struct snap_totals *total = &ui->current->totals;
	char a[UNITS_MAX], b[UNITS_MAX], text[96], of[UNITS_MAX + 8];
	char blocks[UNITS_MAX + 8], sites[UNITS_MAX + 8];
	const char *gap;

	snprintf(blocks, sizeof(blocks), "%s block%s", units_count(a, total->live_blocks),
		units_plural(total->live_blocks));
	snprintf(sites, sizeof(sites), "%s site%s", units_count(b, ui->current->nsites),
		units_plural(ui->current->nsites));
	gap = strlen(blocks) + strlen(sites) + 2 < FACTS_CELLS ? "  " : " ";
	facts_add(f, STYLE_PLAIN, blocks, gap, sites);
	if (total->untracked_blocks) {
		snprintf(text, sizeof(text), "untracked %s/%s",
			units_count(a, total->untracked_blocks),
			units_bytes(b, total->untracked_bytes));
		facts_add(f, STYLE_BAD, text, "", "");
	}
	if (t->file)
		facts_file(t, f);
	snprintf(text, sizeof(text), "history %s%s", units_bytes(a, t->bytes),
		of_limit(of, t->limit_bytes));
	if (t->bytes || t->limit_bytes)
		facts_add(f, STYLE_PLAIN, text, "", "");
	if (t->file && !t->replay)
		facts_add(f, STYLE_PLAIN, "in ", file_name(t), "");
	if (!total->untracked_blocks && f->count < lines)
		facts_add(f, STYLE_PLAIN, "untracked 0", "", "");
}

static void facts_draw(const struct ui *ui, int y, unsigned width, unsigned lines)
{
	const struct timeline *t = ui_timeline(ui);
	struct facts f = { .count = 0 };
	char cut[FACTS_CELLS * 8];

	if (!t)
		return;
	facts_make(ui, t, lines, &f);
	for (unsigned i = 0; i < f.count && i < lines; i++) {
		unsigned cells = text_elide(
			cut, sizeof(cut), f.line[i].text, FACTS_CELLS - 1, false, draw_is_ascii());

		draw_text(y + (int)i, (int)(width - 1 - cells), cells, f.line[i].style, cut);
	}
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void line_draw(const struct ui *ui, int y, unsigned width)
{
	struct infoline s = INFOLINE_INIT;

	line_facts(ui, &s);
	infoline_draw(&s, y, 1, width - 2);
	graph_draw(ui, y, 1);
}

bool time_strip_draw(const struct ui *ui, int y, unsigned width)
{
	unsigned lines = (unsigned)ui->layout.history_height;
	char scale[UNITS_MAX];

	if (!ui->moments.strip.count)
		return false;
	if (lines == 1) {
		line_draw(ui, y, width);
		return true;
	}
	units_bytes(scale, ui->moments.strip.high);
	draw_text(y, 1 + LABEL_CELLS - (int)strlen(scale), LABEL_CELLS, STYLE_INFO, scale);
	if (ui->moments.strip.base && lines > 2) {
		units_bytes(scale, ui->moments.strip.base);
		draw_text(y + (int)lines - 2, 1 + LABEL_CELLS - (int)strlen(scale), LABEL_CELLS,
			STYLE_INFO, scale);
	}
	graph_draw(ui, y, lines - 1);
	axis_draw(ui, y + (int)lines - 1);
	if (has_facts(width))
		facts_draw(ui, y, width, lines);
	return true;
}
