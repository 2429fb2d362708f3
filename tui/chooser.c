/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of a process (chooser.h). Main thread. */
#include "tui/chooser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/key_codes.h"
#include "tui/layout.h"

enum { BY_PID, BY_RSS, BY_GROWTH, BY_STATE, BY_COMMAND };

static const struct table_column columns[] = {
	{ "PID", 8, true, 0, "process id" },
	{ "RSS", 7, true, 0, "resident memory" },
	{ "GROWTH", 10, true, 0, "growth of RSS per second, over the last refreshes" },
	{ "STATE", 9, false, 60, "what it does, or that it is recorded already" },
	{ "COMMAND", 0, false, 0, "command line" },
};
static unsigned columns_off; /* none can be switched off */
static const struct table table = {
	.column = columns, .count = sizeof(columns) / sizeof(columns[0]), .off = &columns_off
};

/* Title, header; message, keys. */
#define LINES_AROUND 4

/* ---- rows --------------------------------------------------------------------------------- */

static const char *state_of(const struct process_row *row)
{
	return row->has_live ? "recorded" : row->state;
}

/* Every word of the filter is in the command line or the pid. */
static bool is_wanted(const struct chooser *c, const struct process_row *row)
{
	char words[CHOOSER_FILTER], pid[16], *at = words, *word;

	snprintf(words, sizeof(words), "%s", c->filter);
	snprintf(pid, sizeof(pid), "%d", (int)row->pid);
	while ((word = strtok_r(at, " ", &at)))
		if (!strcasestr(row->command, word) && !strstr(pid, word))
			return false;
	return true;
}

static int by_number(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Numbers: the largest first; words: by the alphabet. */
static int compare_by(const struct process_row *a, const struct process_row *b, unsigned column)
{
	switch (column) {
	case BY_RSS:
		return by_number((double)a->rss_bytes, (double)b->rss_bytes);
	case BY_GROWTH:
		return by_number(a->rate_bytes_per_s, b->rate_bytes_per_s);
	case BY_STATE:
		return strcmp(state_of(a), state_of(b));
	case BY_COMMAND:
		return strcmp(a->command, b->command);
	default:
		return by_number(a->pid, b->pid);
	}
}

static int compare(const void *left, const void *right, void *chooser)
{
	const struct chooser *c = chooser;
	const struct process_row *a = &c->row[*(const uint16_t *)left];
	const struct process_row *b = &c->row[*(const uint16_t *)right];
	int way = compare_by(a, b, c->sort.sort);

	if (way)
		return c->sort.reverse ? -way : way;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void select_cursor(struct chooser *c)
{
	c->has_selected = c->list.cursor < c->list.count;
	if (c->has_selected)
		c->selected = c->row[c->order[c->list.cursor]].id;
}

static void arrange(struct chooser *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count && i < PROCESSES_MAX; i++)
		if (is_wanted(c, &c->row[i]))
			c->order[n++] = (uint16_t)i;
	qsort_r(c->order, n, sizeof(c->order[0]), compare, c);
	c->list.count = n;
	for (size_t i = 0; c->has_selected && c->list.moved && i < n; i++)
		if (c->row[c->order[i]].id == c->selected)
			list_follow(&c->list, i);
	list_recount(&c->list, n);
	select_cursor(c);
}

static bool is_listed(const struct chooser *c, uint64_t id)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->row[i].id == id)
			return true;
	return false;
}

/* The marks of processes that have ended. The others keep their order. */
static void marks_drop(struct chooser *c)
{
	unsigned kept = 0, ended;

	for (unsigned i = 0; i < c->marks; i++)
		if (is_listed(c, c->mark[i]))
			c->mark[kept++] = c->mark[i];
	ended = c->marks - kept;
	c->marks = kept;
	if (!ended)
		return;
	c->marks_ended = !kept;
	snprintf(c->said, sizeof(c->said), "%u marked process%s ended, %u still marked", ended,
		ended == 1 ? " has" : "es have", kept);
}

void chooser_refresh(struct chooser *c)
{
	c->count = c->source->rows(c->source->ctx, &c->row, &c->more);
	marks_drop(c);
	arrange(c);
}

void chooser_resize(struct chooser *c, int width, int height)
{
	c->width = width;
	c->height = height;
	list_resize(&c->list, height > LINES_AROUND ? (size_t)(height - LINES_AROUND) : 1);
}

void chooser_init(struct chooser *c, const struct chooser_source *source, int width, int height)
{
	*c = (struct chooser){ .source = source, .sort.sort = BY_RSS };
	chooser_resize(c, width, height);
	chooser_refresh(c);
}

/* ---- marks -------------------------------------------------------------------------------- */

static int mark_find(const struct chooser *c, uint64_t id)
{
	for (unsigned i = 0; i < c->marks; i++)
		if (c->mark[i] == id)
			return (int)i;
	return -1;
}

static void mark_turn(struct chooser *c)
{
	int at = mark_find(c, c->selected);

	if (!c->has_selected)
		return;
	if (at >= 0)
		c->mark[at] = c->mark[--c->marks];
	else if (c->marks < CHOOSER_MARKS)
		c->mark[c->marks++] = c->selected;
	else
		snprintf(c->said, sizeof(c->said), "%u can be chosen at most", CHOOSER_MARKS);
	list_go(&c->list, LIST_DOWN);
	select_cursor(c);
}

size_t chooser_taken(const struct chooser *c, pid_t *pids, size_t max)
{
	size_t n = 0;

	for (unsigned m = 0; m < c->marks; m++)
		for (size_t i = 0; i < c->count && n < max; i++)
			if (c->row[i].id == c->mark[m])
				pids[n++] = c->row[i].pid;
	if (!c->marks && max && c->list.cursor < c->list.count)
		pids[n++] = c->row[c->order[c->list.cursor]].pid;
	return n;
}

/* ---- keys --------------------------------------------------------------------------------- */

static void filter_set(struct chooser *c, size_t len)
{
	c->filter_len = len;
	c->filter[len] = '\0';
	arrange(c);
}

static void key_typed(struct chooser *c, int key)
{
	if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		filter_set(c, c->filter_len ? c->filter_len - 1 : 0);
	} else if (key == KEY_CTRL('u')) {
		filter_set(c, 0);
	} else if (key == KEY_ESC) {
		c->typing = false;
		filter_set(c, 0);
	} else if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		c->typing = false;
	} else if (key >= ' ' && key <= '~' && c->filter_len + 1 < sizeof(c->filter)) {
		c->filter[c->filter_len] = (char)key;
		filter_set(c, c->filter_len + 1);
	}
}

static bool key_moves(struct chooser *c, int key)
{
	static const struct {
		int key;
		enum list_motion motion;
	} motions[] = {
		{ KEY_UP, LIST_UP },
		{ 'k', LIST_UP },
		{ KEY_CTRL('p'), LIST_UP },
		{ KEY_DOWN, LIST_DOWN },
		{ 'j', LIST_DOWN },
		{ KEY_CTRL('n'), LIST_DOWN },
		{ KEY_PPAGE, LIST_PAGE_UP },
		{ KEY_CTRL('b'), LIST_PAGE_UP },
		{ KEY_NPAGE, LIST_PAGE_DOWN },
		{ KEY_CTRL('f'), LIST_PAGE_DOWN },
		{ KEY_HOME, LIST_HOME },
		{ 'g', LIST_HOME },
		{ KEY_END, LIST_END },
		{ 'G', LIST_END },
	};

	for (size_t i = 0; i < sizeof(motions) / sizeof(motions[0]); i++) {
		if (motions[i].key != key)
			continue;
		list_go(&c->list, motions[i].motion);
		select_cursor(c);
		return true;
	}
	return false;
}

static void sort_by(struct chooser *c, unsigned column)
{
	c->sort.reverse = c->sort.sort == column ? !c->sort.reverse : false;
	c->sort.sort = column;
	arrange(c);
}

/* Enter was meant for the marked processes: it takes no other one when all of them have ended. */
static void take(struct chooser *c)
{
	if (c->marks_ended)
		snprintf(c->said, sizeof(c->said),
			"the marked processes have ended; Enter again watches the one at the "
			"cursor");
	else if (c->marks || c->list.count)
		c->end = CHOOSER_TAKEN;
	else
		snprintf(c->said, sizeof(c->said), "no process to choose from");
}

static void key_acts(struct chooser *c, int key)
{
	switch (key) {
	case '\r':
	case '\n':
	case KEY_ENTER:
		take(c);
		break;
	case ' ':
		mark_turn(c);
		break;
	case '/':
	case '\\':
	case KEY_F(3):
	case KEY_F(4):
		c->typing = true;
		break;
	case 'I':
	case 'R':
		sort_by(c, c->sort.sort);
		break;
	case KEY_ESC:
		if (!c->filter_len) {
			c->end = CHOOSER_LEFT;
			break;
		}
		filter_set(c, 0);
		break;
	case 'q':
	case 'Q':
	case KEY_F(10):
		c->end = CHOOSER_LEFT;
		break;
	default:
		if (key >= '1' && key < '1' + (int)table.count)
			sort_by(c, (unsigned)(key - '1'));
		else if (key >= ' ')
			snprintf(c->said, sizeof(c->said), "that key does nothing here");
	}
}

void chooser_key(struct chooser *c, int key)
{
	c->said[0] = '\0';
	if (c->typing)
		key_typed(c, key);
	else if (!key_moves(c, key))
		key_acts(c, key);
	c->marks_ended = false;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void cell_text(const struct process_row *row, const struct table_place *p, char *out)
{
	*out = '\0';
	switch (p->column) {
	case BY_PID:
		sprintf(out, "%d", (int)row->pid);
		break;
	case BY_RSS:
		units_bytes(out, row->rss_bytes);
		break;
	case BY_GROWTH:
		if (row->has_rate)
			units_rate(out, row->rate_bytes_per_s);
		break;
	case BY_STATE:
		strcpy(out, state_of(row));
		break;
	default:
		text_elide(out, COLUMN_TEXT_MAX, row->command, p->cells, false, draw_is_ascii());
	}
}

static void draw_row(const struct chooser *c, size_t at, int y)
{
	const struct process_row *row = &c->row[c->order[at]];
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&table, &c->sort, c->width, place);
	bool selected = at == c->list.cursor, marked = mark_find(c, row->id) >= 0;
	enum draw_style style = selected ? STYLE_SELECT : marked ? STYLE_BOLD : STYLE_PLAIN;
	char text[COLUMN_TEXT_MAX];

	if (selected)
		draw_fill(y, 0, (unsigned)c->width, STYLE_SELECT);
	draw_text(y, 0, 1, style, marked ? "*" : selected ? ">" : " ");
	for (unsigned k = 0; k < n; k++) {
		cell_text(row, &place[k], text);
		table_draw_cell(&table, place[k], y, style, text);
	}
}

static void draw_title(const struct chooser *c)
{
	struct infoline s = INFOLINE_INIT;

	infoline_left(&s, 90, STYLE_BOLD, "heaptop");
	infoline_left(&s, 80, STYLE_INFO, "%s", c->source->title);
	infoline_elastic(&s, 10);
	infoline_right(&s, 50, STYLE_PLAIN, "%zu of %zu", c->list.count, c->count + c->more);
	infoline_draw(&s, 0, 1, (unsigned)c->width - 2);
}

/* What the message line says when there is no message. */
static void draw_filter(const struct chooser *c, int y)
{
	char text[CHOOSER_SAID + CHOOSER_FILTER] = "";

	if (c->said[0])
		snprintf(text, sizeof(text), "%s", c->said);
	else if (c->typing || c->filter_len)
		snprintf(text, sizeof(text), "filter: %s%s", c->filter, c->typing ? "_" : "");
	else if (c->marks)
		snprintf(text, sizeof(text), "%u marked: Enter watches them together", c->marks);
	draw_text(y, 1, (unsigned)c->width - 2, STYLE_BOLD, text);
}

static void draw_keys(const struct chooser *c, int y)
{
	static const char *const keys[][2] = { { "Enter", "watch" }, { "Space", "mark" },
		{ "/", "filter" }, { "1-5", "sort" }, { "I", "reverse" }, { "q", "leave" } };
	struct infoline s = INFOLINE_INIT;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		infoline_left(&s, i == 0 || i == 5 ? 90 : 50, STYLE_KEY, "%s", keys[i][0]);
		infoline_join(&s, STYLE_PLAIN, " %s", keys[i][1]);
	}
	infoline_draw(&s, y, 1, (unsigned)c->width - 2);
}

static void draw_body(const struct chooser *c)
{
	table_draw_head(&table, &c->sort, 1, (unsigned)c->width);
	if (!c->list.count)
		draw_text(2, 2, (unsigned)c->width - 2, STYLE_DIM,
			c->count ? "no process matches the filter" : "no process");
	for (size_t i = 0; i < c->list.height && c->list.top + i < c->list.count; i++)
		draw_row(c, c->list.top + i, 2 + (int)i);
}

void chooser_draw(const struct chooser *c)
{
	erase();
	if (c->width < LAYOUT_MIN_WIDTH || c->height < LAYOUT_MIN_HEIGHT) {
		draw_text(0, 0, (unsigned)c->width, STYLE_PLAIN, "too small; q quits heaptop");
	} else {
		draw_title(c);
		draw_body(c);
		draw_filter(c, c->height - 2);
		draw_keys(c, c->height - 1);
	}
	wnoutrefresh(stdscr);
}
