/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The header lines, from the newest snapshot even while the rows are frozen. Each line is an
 * infoline, so the most important facts remain at every width. Called by screen_draw for each
 * frame, on the main thread.
 */
#include "tui/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/group.h"
#include "tui/header_since.h"
#include "tui/infoline.h"
#include "tui/moment_words.h"
#include "tui/shown_moment.h"
#include "tui/time_strip.h"

#define BAR_LEAST     8
#define BAR_MOST      40
#define BAR_WIDE      140 /* wider screens have longer bars, */
#define BAR_MORE      60 /* by so many cells */
#define NARROW	      90 /* with fewer cells, words are left out */
#define KEYS_FROM     110 /* from this width on, the key to the growing sites is beside them */
#define COMMAND_LEAST 14 /* with fewer cells, other facts of the title are dropped first */

static bool is_recorded(const struct snapshot *snap)
{
	return snap->attach.how == SNAP_ATTACH_NOT || snap->attach.how == SNAP_ATTACH_DONE;
}

static enum draw_style header_state_style(const struct snapshot *snap)
{
	switch (snap->state) {
	case SNAP_KILLED:
		return STYLE_BAD;
	case SNAP_EXITED:
		return snap->exit_status ? STYLE_WARN : STYLE_BOLD;
	case SNAP_GONE:
	case SNAP_COPY:
		return STYLE_WARN;
	case SNAP_STARTING:
	case SNAP_RUNNING:
		break;
	}
	return is_recorded(snap) ? STYLE_GOOD : STYLE_WARN;
}

static void header_state(const struct ui *ui, struct infoline *s)
{
	const struct snapshot *snap = ui->current;
	char text[48], clock[UNITS_MAX], badge[MOMENT_WORDS_MAX];

	if (*moment_words_badge(ui, badge))
		infoline_right(s, 99, STYLE_MOMENT, " %s ", badge);
	if (ui->frozen)
		infoline_right(s, 90, STYLE_WARN, "%s FROZEN %s", draw_glyph(GLYPH_FROZEN),
			units_uptime(clock, ui_now_ns(ui) - ui->frozen_ns));
	if (snap->state != SNAP_RUNNING || !is_recorded(snap))
		infoline_right(
			s, 91, header_state_style(snap), "%s", snapshot_state_text(snap, text));
	else if (!ui->frozen && !*badge)
		infoline_right(s, 90, STYLE_GOOD, "%s LIVE", draw_glyph(GLYPH_LIVE));
}

/* The command line; without the program's directory if it is long. */
static const char *header_command(const struct snapshot *snap, unsigned width)
{
	const char *command = snap->command ? snap->command : "?";
	size_t program = snap->argc ? strlen(snap->argv[0]) : 0;

	if (text_cells(command) <= width / 4)
		return command;
	/* argv[0] may hold blanks, so search for its last slash within its length. */
	for (size_t i = strnlen(command, program); i > 0; i--)
		if (command[i - 1] == '/' && i < program)
			return command + i;
	return command;
}

/* A recording that is written, where the timeline does not say so. */
static void header_recording(const struct ui *ui, struct infoline *s)
{
	const struct timeline *t = ui_recording(ui);
	char text[UNITS_MAX];

	if (!t || !t->file || t->replay || ui->layout.history_height > 1)
		return;
	if (t->trouble)
		infoline_right(s, 88, STYLE_BAD, "not recorded: %s", t->trouble);
	else
		infoline_right(s, 45, STYLE_PLAIN, "rec %s", units_bytes(text, t->file_bytes));
}

static void header_title(const struct ui *ui, int y, unsigned width)
{
	const struct snapshot *snap = ui->current;
	struct infoline s = INFOLINE_INIT;
	char text[UNITS_MAX];

	infoline_left(&s, 30, STYLE_BOLD, "heaptop");
	infoline_left(&s, 80, STYLE_INFO, "%s", header_command(snap, width));
	infoline_elastic(&s, COMMAND_LEAST);
	if (snap->processes)
		infoline_left(&s, 90, STYLE_MOMENT, " all %" PRIu32 " process%s ", snap->processes,
			snap->processes == 1 ? "" : "es");
	else if (snap->host)
		infoline_left(&s, 70, STYLE_PLAIN, "pid %d on %s", (int)snap->pid, snap->host);
	else
		infoline_left(&s, 70, STYLE_PLAIN, "pid %d", (int)snap->pid);
	/* If the program ended early, /proc was perhaps never read. */
	if (snap->proc.valid && snap->proc.threads)
		infoline_left(&s, 50, STYLE_PLAIN, "%" PRIu32 " thr", snap->proc.threads);
	infoline_left(&s, 65, STYLE_PLAIN, "up %s", units_uptime(text, shown_moment_newest_ns(ui)));
	header_recording(ui, &s);
	infoline_right(&s, 40, STYLE_PLAIN, "%.3gs", (double)ui->options.delay_ns / 1e9);
	infoline_right(&s, 55, STYLE_PLAIN, "self %.1f%%cpu %s", snap->viewer_cpu_percent,
		units_bytes(text, snap->viewer_rss));
	if (ui->options.readonly)
		infoline_right(&s, 58, STYLE_WARN, "read only");
	header_state(ui, &s);
	infoline_draw(&s, y, 1, width - 2);
}

/* A label and a bar in proportion to the screen's width. */
static void header_bar(
	struct infoline *s, const char *label, uint64_t part, uint64_t whole, unsigned width)
{
	unsigned cells = width * 3 / 8;
	char bar[INFOLINE_TEXT];

	cells = cells < BAR_LEAST ? BAR_LEAST : cells > BAR_MOST ? BAR_MOST : cells;
	if (width > BAR_WIDE)
		cells += width - BAR_WIDE < BAR_MORE ? width - BAR_WIDE : BAR_MORE;
	bar_text(part, whole, cells, draw_glyph_set(), bar, sizeof(bar));
	infoline_left(s, 85, STYLE_INFO, "%s", label);
	infoline_left(s, 60, STYLE_BOLD, "[");
	s->item[s->count - 1].gap = 0;
	infoline_join(s, STYLE_GOOD, "%s", bar);
	/* Padding keeps the text after the bar in its place. */
	for (unsigned have = (unsigned)text_cells(bar); have < cells; have++)
		infoline_join(s, STYLE_PLAIN, " ");
	infoline_join(s, STYLE_BOLD, "]");
}

/* The period of the rates, which is shorter while the program is young. */
static void header_window(const struct snapshot *snap, struct infoline *s)
{
	const uint64_t second = 1000000000u, ns = snap->rates_ns;
	char text[UNITS_MAX];

	if (!ns)
		return;
	units_duration(text, ns);
	if (ns >= second)
		snprintf(text, sizeof(text), "%" PRIu64 "s", (ns + second / 2) / second);
	infoline_right(s, 35, STYLE_DIM, "over %s", text);
	infoline_tight(s);
}

/* What the other processes of its launch hold, of which the list says more. */
static void header_launch(const struct ui *ui, struct infoline *s, unsigned width)
{
	const struct snap_launch *l = &ui->current->launch;
	char a[UNITS_MAX], b[UNITS_MAX];

	if (!l->running || ui_moment(ui) != SNAP_NOW)
		return;
	infoline_left(s, 82, STYLE_WARN, "+%s %s %s", units_count(a, l->running),
		width < NARROW	  ? "proc"
		: l->running == 1 ? "process"
				  : "processes",
		units_bytes(b, l->live_bytes));
	if (ui->source->processes)
		infoline_join(s, STYLE_DIM, " (p)");
}

/* Narrow bars leave room for the other processes. */
static unsigned header_bar_of(const struct ui *ui, unsigned width)
{
	return ui->current->launch.running && width < NARROW ? width / 3 : width;
}

/* "+1.4M/s"; a heap that stands still has a rate, too. "": the program has ended. */
static const char *header_growth(const struct snapshot *s, char text[UNITS_MAX])
{
	const char *growth = snapshot_growth_text(s, s->totals.growth_bytes_per_s, text);
	bool runs = s->state == SNAP_RUNNING || s->state == SNAP_STARTING;

	return strcmp(growth, "0") != 0 ? growth : runs ? strcpy(text, "0/s") : "";
}

/* Does "}" go to the growing sites here? */
static bool growing_has_key(const struct ui *ui, unsigned width)
{
	return ui->growing && width >= KEYS_FROM &&
	       (ui_view(ui)->scope & (IN_SITES | IN_DETAIL | IN_SIZES));
}

static void header_live(const struct ui *ui, int y, unsigned width)
{
	const struct snap_totals *t = &ui->current->totals;
	struct infoline s = INFOLINE_INIT;
	char a[UNITS_MAX], b[UNITS_MAX];

	if (snapshot_unread(ui->current)) {
		header_bar(&s, "Live", 0, 0, header_bar_of(ui, width));
		infoline_left(&s, 90, STYLE_DIM, "unknown: the heap cannot be read from outside");
		infoline_draw(&s, y, 1, width - 2);
		return;
	}
	header_bar(&s, "Live", t->live_bytes, t->peak_live_bytes, header_bar_of(ui, width));
	infoline_left(&s, 90, STYLE_BOLD, "%6s", units_bytes(a, t->live_bytes));
	header_launch(ui, &s, width);
	if (ui->current->kinds)
		infoline_left(&s, 97, STYLE_MOMENT, " %s ", kinds_word(ui->current->kinds));
	infoline_left(&s, 70, STYLE_PLAIN, "peak %s", units_bytes(a, t->peak_live_bytes));
	infoline_left(&s, 45, STYLE_PLAIN, "@%s", units_uptime(b, t->peak_ns));
	infoline_tight(&s);
	if (ui_moment(ui) != SNAP_PEAK && header_growth(ui->current, a)[0])
		infoline_right(&s, 80,
			snapshot_is_young(ui->current) ? STYLE_PLAIN
			: t->growth_bytes_per_s > 0    ? STYLE_WARN
			: t->growth_bytes_per_s < 0    ? STYLE_GOOD
						       : STYLE_PLAIN,
			"%s", header_growth(ui->current, a));
	header_window(ui->current, &s);
	if (ui_moment(ui) == SNAP_NOW) /* growth is known only of now */
		infoline_right(&s, 50, STYLE_PLAIN, "%s %sgrowing%s", units_count(a, ui->growing),
			width < NARROW	   ? ""
			: ui->growing == 1 ? "site "
					   : "sites ",
			growing_has_key(ui, width) ? " (})" : "");
	infoline_draw(&s, y, 1, width - 2);
}

/* Where only live bytes and blocks of the peak are known, the other figures are those of now. */
static void header_of_now(const struct ui *ui, struct infoline *s)
{
	if (ui_moment(ui) == SNAP_PEAK && !ui->current->peak_then)
		infoline_left(
			s, 97, STYLE_MOMENT, shown_moment_is_replay(ui) ? " at the end " : " now ");
}

/* How often all threads of the program stood still while heaptop attached, and for how long. */
static void header_pauses(const struct snap_attach *a, struct infoline *s)
{
	char longest[UNITS_MAX];

	if (a->pauses)
		infoline_right(s, 30, STYLE_PLAIN, "%u pause%s, longest %s", a->pauses,
			units_plural(a->pauses), units_duration(longest, a->longest_ns));
}

/* After the end: the last value read, or the maximum that the kernel reported. */
static void header_rss(const struct ui *ui, int y, unsigned width)
{
	const struct snap_proc *p = &ui->current->proc;
	bool ended = ui->current->state != SNAP_RUNNING && ui->current->state != SNAP_STARTING;
	struct infoline s = INFOLINE_INIT;
	char a[UNITS_MAX];

	header_pauses(&ui->current->attach, &s);
	header_bar(&s, "RSS ", p->rss, p->hwm, header_bar_of(ui, width));
	header_of_now(ui, &s);
	if (!p->valid || (ended && !p->rss))
		infoline_left(&s, 90, STYLE_DIM, "%s",
			ui->current->state == SNAP_COPY ? "unknown: a core file does not say"
							: "unknown: the program had already ended");
	if (p->valid && ended && !p->rss) {
		infoline_left(&s, 80, STYLE_PLAIN, "hwm %s", units_bytes(a, p->hwm));
	} else if (p->valid) {
		infoline_left(&s, 90, STYLE_BOLD, "%6s", units_bytes(a, p->rss));
		if (ended && ui_moment(ui) != SNAP_PEAK)
			infoline_left(&s, 75, STYLE_DIM, "when last seen");
		infoline_left(&s, 80, STYLE_PLAIN, "hwm %s", units_bytes(a, p->hwm));
		if (p->have_pss)
			infoline_left(&s, 70, STYLE_PLAIN, "pss %s", units_bytes(a, p->pss));
		infoline_left(&s, 60, p->swap ? STYLE_WARN : STYLE_PLAIN, "swap %s",
			units_bytes(a, p->swap));
		/* After the end, live bytes may be newer than the last RSS. */
		if (!ended && ui->current->totals.live_bytes && ui_moment(ui) != SNAP_PEAK) {
			double times = (double)p->rss / (double)ui->current->totals.live_bytes;

			infoline_right(
				&s, 40, STYLE_PLAIN, "RSS/live %.*f", times < 100 ? 2 : 0, times);
		}
	}
	infoline_draw(&s, y, 1, width - 2);
}

static void header_counts(const struct ui *ui, struct infoline *s)
{
	const struct snap_totals *t = &ui->current->totals;
	const struct {
		const char *name;
		uint64_t total;
		double per_s;
		unsigned priority;
	} ops[] = {
		{ "alloc", t->allocs, t->allocs_per_s, 90 },
		{ "free", t->frees, t->frees_per_s, 80 },
		{ "realloc", t->reallocs, t->reallocs_per_s, 60 },
	};
	char a[UNITS_MAX], b[UNITS_MAX];

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]) - t->no_reallocs; i++) {
		infoline_left(s, ops[i].priority, STYLE_PLAIN, "%s %s", ops[i].name,
			units_count(a, ops[i].total));
		if (ui_moment(ui) != SNAP_PEAK)
			infoline_join(s, STYLE_PLAIN, " %s", units_freq(b, ops[i].per_s));
	}
}

static void header_ops(const struct ui *ui, int y, unsigned width)
{
	const struct snap_proc *p = &ui->current->proc;
	struct infoline s = INFOLINE_INIT;
	char a[UNITS_MAX];

	infoline_left(&s, 99, STYLE_INFO, "Ops");
	header_of_now(ui, &s);
	if (ui->current->attach.how == SNAP_ATTACH_OUTSIDE)
		infoline_left(&s, 90, STYLE_DIM, "unknown: calls cannot be counted from outside");
	else
		header_counts(ui, &s);
	if (ui_moment(ui) == SNAP_PEAK) {
		infoline_draw(&s, y, 1, width - 2);
		return;
	}
	infoline_right(&s, 70, STYLE_PLAIN, "faults %s min", units_freq(a, p->minor_faults_per_s));
	infoline_join(&s, p->major_faults_per_s > 0 ? STYLE_WARN : STYLE_PLAIN, "  %s maj",
		units_freq(a, p->major_faults_per_s));
	infoline_draw(&s, y, 1, width - 2);
}

/* The program adds a point when its heap changes; since the last point nothing changed. */
static uint64_t header_points_till_now(const struct snapshot *snap)
{
	uint64_t step = snap->history_step_ns, points = snap->history_points;
	uint64_t till_now = step ? (snap->uptime_ns + step - 1) / step : 0;

	return points == 0 || points > till_now ? points : till_now;
}

/*
 * Resamples `n` points to at most `cells` cells. `in` has the first `known` points; the others
 * equal its last. Each cell is the maximum of *each points, the same number in each, so that past
 * cells do not change, and are not repainted, when the graph grows. Returns the number of cells.
 */
static unsigned header_resample(const uint64_t *in, unsigned known, uint64_t n,
	uint64_t out[SNAP_HISTORY_POINTS], unsigned cells, uint64_t *each)
{
	unsigned used;

	if (known > SNAP_HISTORY_POINTS)
		known = SNAP_HISTORY_POINTS;
	if (cells > SNAP_HISTORY_POINTS)
		cells = SNAP_HISTORY_POINTS;
	*each = n > cells ? (n + cells - 1) / cells : 1;
	used = (unsigned)((n + *each - 1) / *each);
	for (unsigned i = 0; i < used; i++) {
		uint64_t from = i * *each, to = from + *each;

		out[i] = from < known ? 0 : in[known - 1];
		for (uint64_t j = from; j < to && j < known; j++)
			out[i] = in[j] > out[i] ? in[j] : out[i];
	}
	return used;
}

/* A vertical line in the graph wherever the recording changed; a cell covers `cell_ns`. */
static void header_marks(
	const struct snapshot *snap, int y, int x, unsigned cells, uint64_t cell_ns)
{
	for (unsigned i = 0; i < snap->sampling.marks && cell_ns; i++) {
		uint64_t ns = snap->sampling.mark[i].ns;

		if (ns == 0 || ns / cell_ns >= cells)
			continue;
		draw_text(y, x + (int)(ns / cell_ns), 1, STYLE_WARN, draw_glyph(GLYPH_VLINE));
	}
}

static void header_history(const struct ui *ui, int y, unsigned width)
{
	const struct snapshot *snap = ui->current;
	struct infoline s = INFOLINE_INIT;
	uint64_t points[SNAP_HISTORY_POINTS], each;
	char graph[SNAP_HISTORY_POINTS * 4 + 1], span[UNITS_MAX];
	unsigned used, room;

	if (time_strip_draw(ui, y, width))
		return;
	infoline_left(&s, 60, STYLE_INFO, "%5s", units_uptime(span, snap->uptime_ns));
	time_strip_counts(snap, &s);
	used = infoline_fit(&s, width - 2);
	room = width - 2 > used + 2 * INFOLINE_GAP ? width - 2 - used - 2 * INFOLINE_GAP : 0;
	infoline_draw(&s, y, 1, width - 2);
	if (room < BAR_LEAST)
		return;
	room = header_resample(snap->history, snap->history_points, header_points_till_now(snap),
		points, room, &each);
	spark_text(points, room, draw_glyph_set(), graph, sizeof(graph));
	draw_text(y, 2 + (int)text_cells(s.item[0].text), room, STYLE_GOOD, graph);
	header_marks(
		snap, y, 2 + (int)text_cells(s.item[0].text), room, each * snap->history_step_ns);
}

static void header_notice(const struct ui *ui, int y, unsigned width)
{
	char cut[UI_MESSAGE_MAX];
	const char *text = ui->error ? ui->error : ui->current ? ui->current->notice : NULL;

	if (!text)
		return;
	text_elide(cut, sizeof(cut), text, width - 4, false, draw_is_ascii());
	draw_text(y, 1, 2, STYLE_BAD, "! ");
	draw_text(y, 3, width - 4, STYLE_BAD, cut);
}

/* "[Sites > Site detail] Output": the tab in front, with the views open on top of it. */
static void header_tab_text(const struct ui *ui, int id, char text[INFOLINE_TEXT])
{
	bool front = ui->stack[0] == (enum view_id)id;
	int len = snprintf(text, INFOLINE_TEXT, "%c%s", front ? '[' : ' ', view_table[id]->title);

	for (unsigned i = 1; front && i < ui->depth; i++)
		len += snprintf(text + len, INFOLINE_TEXT - (size_t)len, " > %s",
			view_table[ui->stack[i]]->title);
	snprintf(text + len, INFOLINE_TEXT - (size_t)len, "%c", front ? ']' : ' ');
}

/* Exact or sampled, and what the recording costs the program. */
static void header_sampling(const struct ui *ui, struct infoline *s)
{
	const struct snapshot *snap = ui->current;
	char text[SNAP_SAMPLING_MAX];

	if (!snap)
		return;
	infoline_right(s, snap->sampling.most ? 91 : 70,
		snap->sampling.most ? STYLE_WARN : STYLE_PLAIN, "%s",
		snapshot_sampling_text(snap, draw_is_ascii(), text));
	if (snap->sampling.measured)
		infoline_right(s, 65, STYLE_PLAIN, "cost %.1f%%", snap->sampling.overhead * 100);
}

/* Which moment the rows are of, where no title says so. */
static void header_moment(const struct ui *ui, struct infoline *s)
{
	char badge[MOMENT_WORDS_MAX];

	if (ui->layout.y[ROW_TITLE] < 0 && *moment_words_badge(ui, badge))
		infoline_right(s, 100, STYLE_MOMENT, " %s ", badge);
}

static bool header_shows_end(const struct ui *ui)
{
	const struct snap_range *range = ui->shown->range;
	unsigned scope = ui_view(ui)->scope;

	return (scope & IN_SIZES && !range) || (scope & IN_THREADS && !(range && range->threads));
}

/* The column that sorts and, where it is shown only for that, the one that it replaces. */
static void header_sort(const struct ui *ui, struct infoline *s)
{
	const struct column_info *c = &column_table[ui->sort];
	int replaced = ui->sites.scroll ? -1 : layout_replaced(ui->layout.width, ui_kind(ui));

	if (ui->set != COLUMNS_MEMORY)
		infoline_right(s, 95, STYLE_INFO, "%s columns", column_sets[ui->set].key);
	infoline_right(s, 80, STYLE_PLAIN, "%s%s%s", replaced < 0 ? "sort " : "", c->title,
		draw_glyph(c->descending != ui->reverse ? GLYPH_DOWN : GLYPH_UP));
	if (replaced < 0)
		return;
	infoline_right(s, 75, STYLE_DIM, "for %s", column_table[replaced].title);
	infoline_tight(s);
}

static void header_order(const struct ui *ui, struct infoline *s)
{
	char clock[UNITS_MAX];

	if (ui_view(ui)->facts)
		ui_view(ui)->facts(ui, s);
	if (ui_view(ui)->scope == view_table[VIEW_SITES]->scope)
		group_facts(ui, s);
	if (ui_view(ui)->scope == view_table[VIEW_SITES]->scope)
		header_sort(ui, s);
	header_sampling(ui, s);
	if (ui->filter && (ui_view(ui)->scope & IN_FILTERED)) {
		infoline_right(s, 92, STYLE_WARN, "filter: %s", filter_text(ui->filter));
		infoline_elastic(s, 14);
	}
	header_moment(ui, s);
	/* Some know nothing of a range but its end. */
	if (ui_moment(ui) == SNAP_RANGE && header_shows_end(ui))
		infoline_right(s, 88, STYLE_WARN, "as of %s",
			moment_words_clock(ui, ui->shown->uptime_ns, clock));
	header_since_add(ui, s);
	if (ui->hold)
		infoline_right(s, 85, STYLE_WARN, "order held (o)");
	if (ui->show_hidden)
		infoline_right(s, 60, STYLE_WARN, "all frames (H)");
	if (ui->names != NAMES_SHORT)
		infoline_right(s, 50, STYLE_PLAIN, "%s names (v)", name_styles[ui->names]);
}

#define FACT_WANTED 85 /* what is of lower priority does not shorten the way that led here */

/* The line of tabs; item i is the tab id[i]. If not all fit, the tab in front stays, and is only
 * truncated if it does not fit alone. */
static void header_tab_line(const struct ui *ui, struct infoline *s, int id[VIEW_TABS])
{
	unsigned width = (unsigned)ui->layout.width - 1;
	char text[INFOLINE_TEXT];

	for (int i = 0; i < VIEW_TABS; i++) {
		bool front = ui->stack[0] == (enum view_id)i;

		header_tab_text(ui, i, text);
		id[s->count] = i;
		infoline_left(s, front ? 99 : 90,
			front				  ? STYLE_BOLD
			: ui_missing(ui, (enum view_id)i) ? STYLE_DIM
							  : STYLE_PLAIN,
			"%s", text);
		s->item[s->count - 1].gap = 0;
		if (!front)
			infoline_modest(s);
		if (front && (s->item[s->count - 1].cells > width || ui_moment(ui) != SNAP_NOW))
			infoline_elastic(s, 8);
	}
	header_order(ui, s);
	for (unsigned i = 0; i < s->count; i++)
		s->item[i].modest |= s->item[i].right && s->item[i].priority < FACT_WANTED;
}

int header_tab_at(const struct ui *ui, int x)
{
	struct infoline s = INFOLINE_INIT;
	int id[VIEW_TABS], at = 0;

	header_tab_line(ui, &s, id);
	infoline_fit(&s, (unsigned)ui->layout.width - 1);
	for (unsigned i = 0; i < s.count && !s.item[i].right; i++) {
		if (s.item[i].dropped)
			continue;
		if (x >= at && x < at + (int)s.item[i].cells)
			return id[i];
		at += (int)s.item[i].cells;
	}
	return -1;
}

static void header_tabs(const struct ui *ui, int y, unsigned width)
{
	struct infoline s = INFOLINE_INIT;
	int id[VIEW_TABS];

	header_tab_line(ui, &s, id);
	infoline_draw(&s, y, 0, width - 1);
}

static const struct {
	enum layout_row row;
	void (*draw)(const struct ui *ui, int y, unsigned width);
	bool needs_snapshot;
} header_table[] = {
	{ ROW_TITLE, header_title, true },
	{ ROW_LIVE, header_live, true },
	{ ROW_RSS, header_rss, true },
	{ ROW_OPS, header_ops, true },
	{ ROW_HISTORY, header_history, true },
	{ ROW_NOTICE, header_notice, false },
	{ ROW_TABS, header_tabs, false },
};

void header_draw(const struct ui *ui)
{
	unsigned width = (unsigned)ui->layout.width;

	for (size_t i = 0; i < sizeof(header_table) / sizeof(header_table[0]); i++) {
		int y = ui->layout.y[header_table[i].row];

		if (y >= 0 && (ui->current || !header_table[i].needs_snapshot))
			header_table[i].draw(ui, y, width);
	}
	if (!ui->current && ui->layout.y[ROW_TITLE] >= 0)
		draw_text(
			ui->layout.y[ROW_TITLE], 1, width - 1, STYLE_BOLD, "heaptop: no data yet");
}
