/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The header lines, from the newest snapshot even while the rows are frozen. Called by ui_draw for
 * each frame, on the main thread. Each line is a strip of facts by rank (strip.h), so every width
 * has its most important ones.
 */
#include "tui/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/model/mark_list.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/group.h"
#include "tui/keys.h"
#include "tui/infoline.h"

#define BAR_LEAST     8
#define BAR_MOST      40
#define NARROW	      90 /* where words are spared */
#define COMMAND_LEAST 14 /* below this, other facts of the title go first */

/* "12:41", "1:02:03", "2d 03:04:05": a clock that ticks, where units_duration would jump. */
static const char *header_clock(char buf[UNITS_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000u, h = s / 3600, d = h / 24;
	unsigned mm = (unsigned)(s / 60 % 60), ss = (unsigned)(s % 60);

	if (d)
		snprintf(buf, UNITS_MAX, "%" PRIu64 "d %02u:%02u:%02u", d, (unsigned)(h % 24), mm,
			ss);
	else if (h)
		snprintf(buf, UNITS_MAX, "%u:%02u:%02u", (unsigned)h, mm, ss);
	else
		snprintf(buf, UNITS_MAX, "%u:%02u", mm, ss);
	return buf;
}

static enum ink header_state_ink(const struct snapshot *snap)
{
	switch (snap->state) {
	case SNAP_KILLED:
		return INK_BAD;
	case SNAP_EXITED:
		return snap->exit_status ? INK_WARN : INK_BOLD;
	case SNAP_GONE:
	case SNAP_COPY:
		return INK_WARN;
	case SNAP_STARTING:
	case SNAP_RUNNING:
		break;
	}
	return INK_GOOD;
}

static void header_state(const struct ui *ui, struct strip *s)
{
	const struct snapshot *snap = ui->current;
	char text[48], clock[UNITS_MAX];

	if (ui->frozen)
		strip_right(s, 90, INK_WARN, "%s FROZEN %s", ink_sign(SIGN_FROZEN),
			header_clock(clock, ui_now_ns(ui) - ui->frozen_ns));
	if (snap->state != SNAP_RUNNING)
		strip_right(s, 91, header_state_ink(snap), "%s", snapshot_state_text(snap, text));
	else if (!ui->frozen)
		strip_right(s, 90, INK_GOOD, "%s LIVE", ink_sign(SIGN_LIVE));
}

/* The command line; where it is long, without the directory of the program. */
static const char *header_command(const struct snapshot *snap, unsigned width)
{
	const char *command = snap->command ? snap->command : "?";
	size_t program = snap->argc ? strlen(snap->argv[0]) : 0;

	if (text_cells(command) <= width / 4)
		return command;
	/* argv[0] may hold blanks; the slash that counts is the last one inside it. */
	for (size_t i = strnlen(command, program); i > 0; i--)
		if (command[i - 1] == '/' && i < program)
			return command + i;
	return command;
}

static void header_title(const struct ui *ui, int y, unsigned width)
{
	const struct snapshot *snap = ui->current;
	struct strip s = STRIP_INIT;
	char text[UNITS_MAX];

	strip_left(&s, 30, INK_BOLD, "heaptop");
	strip_left(&s, 80, INK_INFO, "%s", header_command(snap, width));
	strip_elastic(&s, COMMAND_LEAST);
	strip_left(&s, 70, INK_PLAIN, "pid %d", (int)snap->pid);
	/* Of a program that has ended, /proc was not always seen in time. */
	if (snap->proc.valid && snap->proc.threads)
		strip_left(&s, 50, INK_PLAIN, "%" PRIu32 " thr", snap->proc.threads);
	strip_left(&s, 65, INK_PLAIN, "up %s", header_clock(text, snap->uptime_ns));
	strip_right(&s, 40, INK_PLAIN, "%.3gs", (double)ui->options.delay_ns / 1e9);
	strip_right(&s, 55, INK_PLAIN, "self %.1f%%cpu %s", snap->viewer_cpu_percent,
		units_bytes(text, snap->viewer_rss));
	if (ui->options.readonly)
		strip_right(&s, 58, INK_WARN, "read only");
	header_state(ui, &s);
	strip_draw(&s, y, 1, width - 2);
}

/* A label and a bar, with the bar's size by the screen's. */
static void header_bar(
	struct strip *s, const char *label, uint64_t part, uint64_t whole, unsigned width)
{
	unsigned cells = width * 3 / 8;
	char bar[STRIP_TEXT];

	cells = cells < BAR_LEAST ? BAR_LEAST : cells > BAR_MOST ? BAR_MOST : cells;
	bar_text(part, whole, cells, ink_glyphs(), bar, sizeof(bar));
	strip_left(s, 85, INK_INFO, "%s", label);
	strip_left(s, 60, INK_BOLD, "[");
	s->piece[s->count - 1].gap = 0;
	strip_join(s, INK_GOOD, "%s", bar);
	/* A bar that ends early is padded, so that what follows never moves. */
	for (unsigned have = (unsigned)text_cells(bar); have < cells; have++)
		strip_join(s, INK_PLAIN, " ");
	strip_join(s, INK_BOLD, "]");
}

/* What the rates are over: less than it will be, while the program is young. */
static void header_window(const struct snapshot *snap, struct strip *s)
{
	const uint64_t second = 1000000000u, ns = snap->rates_ns;
	char text[UNITS_MAX];

	if (!ns)
		return;
	units_duration(text, ns);
	if (ns >= second)
		snprintf(text, sizeof(text), "%" PRIu64 "s", (ns + second / 2) / second);
	strip_right(s, 35, INK_DIM, "over %s", text);
	strip_tight(s);
}

static void header_live(const struct ui *ui, int y, unsigned width)
{
	const struct snap_totals *t = &ui->current->totals;
	struct strip s = STRIP_INIT;
	char a[UNITS_MAX], b[UNITS_MAX];

	header_bar(&s, "Live", t->live_bytes, t->peak_live_bytes, width);
	strip_left(&s, 90, INK_BOLD, "%6s", units_bytes(a, t->live_bytes));
	strip_left(&s, 70, INK_PLAIN, "peak %s", units_bytes(a, t->peak_live_bytes));
	strip_left(&s, 45, INK_PLAIN, "@%s", header_clock(b, t->peak_ns));
	strip_tight(&s);
	strip_right(&s, 80,
		t->growth_bytes_per_s > 0   ? INK_WARN
		: t->growth_bytes_per_s < 0 ? INK_GOOD
					    : INK_PLAIN,
		"%s", units_rate(a, t->growth_bytes_per_s));
	header_window(ui->current, &s);
	strip_right(&s, 50, INK_PLAIN, "%s %sgrowing", units_count(a, ui->growing),
		width < NARROW	   ? ""
		: ui->growing == 1 ? "site "
				   : "sites ");
	strip_draw(&s, y, 1, width - 2);
}

/* After the end it is what was seen last, or the kernel's word of the most there was. */
static void header_rss(const struct ui *ui, int y, unsigned width)
{
	const struct snap_proc *p = &ui->current->proc;
	bool ended = ui->current->state != SNAP_RUNNING && ui->current->state != SNAP_STARTING;
	struct strip s = STRIP_INIT;
	char a[UNITS_MAX];

	header_bar(&s, "RSS ", p->rss, p->hwm, width);
	if (!p->valid || (ended && !p->rss))
		strip_left(&s, 90, INK_DIM, "not read: the program was gone");
	if (p->valid && ended && !p->rss) {
		strip_left(&s, 80, INK_PLAIN, "hwm %s", units_bytes(a, p->hwm));
	} else if (p->valid) {
		strip_left(&s, 90, INK_BOLD, "%6s", units_bytes(a, p->rss));
		if (ended)
			strip_left(&s, 75, INK_DIM, "when last seen");
		strip_left(&s, 80, INK_PLAIN, "hwm %s", units_bytes(a, p->hwm));
		if (p->have_pss)
			strip_left(&s, 70, INK_PLAIN, "pss %s", units_bytes(a, p->pss));
		strip_left(
			&s, 60, p->swap ? INK_WARN : INK_PLAIN, "swap %s", units_bytes(a, p->swap));
		/* What is live may have gone on changing after that. */
		if (!ended && ui->current->totals.live_bytes) {
			double times = (double)p->rss / (double)ui->current->totals.live_bytes;

			strip_right(&s, 40, INK_PLAIN, "RSS/live %.*f", times < 100 ? 2 : 0, times);
		}
	}
	strip_draw(&s, y, 1, width - 2);
}

static void header_ops(const struct ui *ui, int y, unsigned width)
{
	const struct snap_totals *t = &ui->current->totals;
	const struct snap_proc *p = &ui->current->proc;
	struct strip s = STRIP_INIT;
	const struct {
		const char *name;
		uint64_t total;
		double per_s;
		unsigned rank;
	} ops[] = {
		{ "alloc", t->allocs, t->allocs_per_s, 90 },
		{ "free", t->frees, t->frees_per_s, 80 },
		{ "realloc", t->reallocs, t->reallocs_per_s, 60 },
	};
	char a[UNITS_MAX], b[UNITS_MAX];

	strip_left(&s, 99, INK_INFO, "Ops");
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		strip_left(&s, ops[i].rank, INK_PLAIN, "%s %s %s", ops[i].name,
			units_count(a, ops[i].total), units_freq(b, ops[i].per_s));
	strip_right(&s, 70, INK_PLAIN, "faults %s min", units_freq(a, p->minor_faults_per_s));
	strip_join(&s, p->major_faults_per_s > 0 ? INK_WARN : INK_PLAIN, "  %s maj",
		units_freq(a, p->major_faults_per_s));
	strip_draw(&s, y, 1, width - 2);
}

/* The facts at the right of the history. */
static void header_counts(const struct snapshot *snap, struct strip *s)
{
	const struct snap_totals *t = &snap->totals;
	char a[UNITS_MAX], b[UNITS_MAX];

	strip_right(s, 80, INK_PLAIN, "%s blocks", units_count(a, t->live_blocks));
	strip_right(s, 70, INK_PLAIN, "%s site%s", units_count(a, snap->nsites),
		snap->nsites == 1 ? "" : "s");
	if (t->untracked_blocks)
		strip_right(s, 85, INK_BAD, "untracked %s/%s", units_count(a, t->untracked_blocks),
			units_bytes(b, t->untracked_bytes));
	else
		strip_right(s, 65, INK_PLAIN, "untracked 0");
}

/* The program notes a point when its heap changes: after the last one, up to now, nothing did. */
static uint64_t header_points_till_now(const struct snapshot *snap)
{
	uint64_t step = snap->history_step_ns, points = snap->history_points;
	uint64_t till_now = step ? (snap->uptime_ns + step - 1) / step : 0;

	return points == 0 || points > till_now ? points : till_now;
}

/*
 * `n` points, of which `in` has the first `known` and the others are like its last, as at most
 * `cells`: each cell shows the largest of as many points as the others, so that what is past stands
 * still as the graph gets longer, and is not painted anew. Returns how many cells it takes; *each:
 * points in one.
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

/* A line across the graph where recording changed; a cell of it is so long. */
static void header_marks(
	const struct snapshot *snap, int y, int x, unsigned cells, uint64_t cell_ns)
{
	for (unsigned i = 0; i < snap->sampling.marks && cell_ns; i++) {
		uint64_t ns = snap->sampling.mark[i].ns;

		if (ns == 0 || ns / cell_ns >= cells)
			continue;
		ink_text(y, x + (int)(ns / cell_ns), 1, INK_WARN, ink_sign(SIGN_VLINE));
	}
}

static void header_history(const struct ui *ui, int y, unsigned width)
{
	const struct snapshot *snap = ui->current;
	struct strip s = STRIP_INIT;
	uint64_t points[SNAP_HISTORY_POINTS], each;
	char graph[SNAP_HISTORY_POINTS * 4 + 1], span[UNITS_MAX];
	unsigned used, room;

	strip_left(&s, 60, INK_INFO, "%5s", header_clock(span, snap->uptime_ns));
	header_counts(snap, &s);
	used = strip_fit(&s, width - 2);
	room = width - 2 > used + 2 * STRIP_GAP ? width - 2 - used - 2 * STRIP_GAP : 0;
	strip_draw(&s, y, 1, width - 2);
	if (room < BAR_LEAST)
		return;
	room = header_resample(snap->history, snap->history_points, header_points_till_now(snap),
		points, room, &each);
	spark_text(points, room, ink_glyphs(), graph, sizeof(graph));
	ink_text(y, 2 + (int)text_cells(s.piece[0].text), room, INK_GOOD, graph);
	header_marks(
		snap, y, 2 + (int)text_cells(s.piece[0].text), room, each * snap->history_step_ns);
}

static void header_notice(const struct ui *ui, int y, unsigned width)
{
	char cut[UI_MESSAGE_MAX];
	const char *text = ui->error ? ui->error : ui->current ? ui->current->notice : NULL;

	if (!text)
		return;
	text_elide(cut, sizeof(cut), text, width - 4, false, ink_ascii());
	ink_text(y, 1, 2, INK_BAD, "! ");
	ink_text(y, 3, width - 4, INK_BAD, cut);
}

/* "[Sites > Site detail] Output": the tab in front, with what is open on top of it. */
static void header_tab_text(const struct ui *ui, int id, char text[STRIP_TEXT])
{
	bool front = ui->stack[0] == (enum view_id)id;
	int len = snprintf(text, STRIP_TEXT, "%c%s", front ? '[' : ' ', view_table[id]->title);

	for (unsigned i = 1; front && i < ui->depth; i++)
		len += snprintf(text + len, STRIP_TEXT - (size_t)len, " > %s",
			view_table[ui->stack[i]]->title);
	snprintf(text + len, STRIP_TEXT - (size_t)len, "%c", front ? ']' : ' ');
}

static bool header_tab_present(const struct ui *ui, int id)
{
	return !view_table[id]->present || view_table[id]->present(ui);
}

/* How the figures of the header came about, and what that costs the program. */
static void header_sampling(const struct ui *ui, struct strip *s)
{
	const struct snapshot *snap = ui->current;
	char text[SNAP_SAMPLING_MAX];

	if (!snap)
		return;
	strip_right(s, snap->sampling.most ? 91 : 70, snap->sampling.most ? INK_WARN : INK_PLAIN,
		"%s", snapshot_sampling_text(snap, ink_ascii(), text));
	if (snap->sampling.measured)
		strip_right(s, 65, INK_PLAIN, "cost %.1f%%", snap->sampling.overhead * 100);
}

static void header_since(const struct snapshot *snap, struct strip *s)
{
	char from[MOMENTS_TEXT], to[MOMENTS_TEXT];

	if (snap->until)
		strip_right(s, 88, INK_WARN, "%s to %s", moments_text(snap->since, from),
			moments_text(snap->until, to));
	else
		strip_right(s, 88, INK_WARN, "since %s", moments_text(snap->since, from));
	strip_elastic(s, 12);
}

static void header_order(const struct ui *ui, struct strip *s)
{
	const struct column_info *c = &column_table[ui->sort];

	if (ui_view(ui)->facts)
		ui_view(ui)->facts(ui, s);
	if (ui_view(ui)->scope == view_table[VIEW_SITES]->scope)
		group_facts(ui, s);
	if (ui_view(ui)->scope == view_table[VIEW_SITES]->scope)
		strip_right(s, 80, INK_PLAIN, "sort %s%s", c->title,
			ink_sign(c->descending != ui->reverse ? SIGN_DOWN : SIGN_UP));
	header_sampling(ui, s);
	if (ui->filter && (ui_view(ui)->scope & IN_FILTERED)) {
		strip_right(s, 92, INK_WARN, "filter: %s", filter_text(ui->filter));
		strip_elastic(s, 14);
	}
	if (ui->shown && ui->shown->since)
		header_since(ui->shown, s);
	if (ui->hold)
		strip_right(s, 85, INK_WARN, "order held (o)");
	if (ui->show_hidden)
		strip_right(s, 60, INK_WARN, "all frames (H)");
	if (ui->names != NAMES_SHORT)
		strip_right(s, 50, INK_PLAIN, "%s names (v)", name_styles[ui->names]);
}

/* The line of tabs; piece i of it is the tab id[i]. Where not all fit, the one in front stays, and
 * whole, as long as it can be alone. */
static void header_tab_strip(const struct ui *ui, struct strip *s, int id[VIEW_TABS])
{
	unsigned width = (unsigned)ui->layout.width - 1;
	char text[STRIP_TEXT];

	for (int i = 0; i < VIEW_TABS; i++) {
		bool front = ui->stack[0] == (enum view_id)i;

		if (!header_tab_present(ui, i))
			continue;
		header_tab_text(ui, i, text);
		id[s->count] = i;
		strip_left(s, front ? 99 : 90, front ? INK_BOLD : INK_PLAIN, "%s", text);
		s->piece[s->count - 1].gap = 0;
		if (front && s->piece[s->count - 1].cells > width)
			strip_elastic(s, 8);
	}
	header_order(ui, s);
}

int header_tab_at(const struct ui *ui, int x)
{
	struct strip s = STRIP_INIT;
	int id[VIEW_TABS], at = 0;

	header_tab_strip(ui, &s, id);
	strip_fit(&s, (unsigned)ui->layout.width - 1);
	for (unsigned i = 0; i < s.count && !s.piece[i].right; i++) {
		if (s.piece[i].dropped)
			continue;
		if (x >= at && x < at + (int)s.piece[i].cells)
			return id[i];
		at += (int)s.piece[i].cells;
	}
	return -1;
}

static void header_tabs(const struct ui *ui, int y, unsigned width)
{
	struct strip s = STRIP_INIT;
	int id[VIEW_TABS];

	header_tab_strip(ui, &s, id);
	strip_draw(&s, y, 0, width - 1);
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
		ink_text(ui->layout.y[ROW_TITLE], 1, width - 1, INK_BOLD, "heaptop: no data yet");
}
