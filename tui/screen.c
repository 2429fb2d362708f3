/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen as a whole (screen.h): what a key, a click and a new size do, and the frame that is
 * drawn around the view in front. Called by loop.c, script.c and tests, on the main thread; never
 * waits.
 */
#include "tui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "tui/actions.h"
#include "tui/curses_api.h"
#include "tui/detach.h"
#include "tui/draw.h"
#include "tui/find.h"
#include "tui/group.h"
#include "tui/header.h"
#include "tui/header_since.h"
#include "tui/key_codes.h"
#include "tui/key_names.h"
#include "tui/keys.h"
#include "tui/moment_words.h"
#include "tui/moments.h"
#include "tui/rows.h"
#include "tui/settings_sync.h"
#include "tui/term_keys.h"
#include "tui/time_strip.h"
#include "tui/trail.h"
#include "tui/tree_table.h"
#include "tui/view_leaks.h"
#include "tui/view_output.h"

/* How long a message stays when no key comes. */
#define MESSAGE_NS 10000000000ull

void screen_init(struct ui *ui, const struct tui_source *source, const struct tui_options *options)
{
	*ui = (struct ui){ .source = source, .options = *options, .depth = 1 };
	ui->sort = options->sort;
	ui->reverse = options->reverse;
	ui->names = options->names;
	ui->show_hidden = options->show_hidden;
	ui->stack[0] = options->tree ? VIEW_TREE : VIEW_SITES;
	ui->output.follow = true;
	ui->tree.changes_order.sort = TREE_TABLE_SINCE;
	ui->modules.changes_order.sort = 1; /* SINCE, DELTA */
	ui->processes.order.reverse = true; /* PID, the first one first */
	ui->group.by = options->group;
	if (options->ignored)
		ui->ignored = ignored_new(options->ignored);
	find_filter_set(ui, options->filter);
	if (options->greeting)
		ui_message(ui, "%s", options->greeting);
	settings_sync_start(ui);
}

void screen_free(struct ui *ui)
{
	snapshot_unref(ui->current);
	snapshot_unref(ui->shown);
	for (int id = 0; id < VIEW_COUNT; id++) {
		if (view_table[id]->reset)
			view_table[id]->reset(ui);
		if (view_table[id]->free)
			view_table[id]->free(ui);
	}
	find_free(ui);
	rows_free(ui);
	ignored_free(ui->ignored);
	strbuf_free(&ui->clipboard);
	*ui = (struct ui){ 0 };
}

/* Places the rows. Some views have other lines in another body, and frozen, no tick makes them. */
static void lay_out(struct ui *ui)
{
	const struct layout *l = &ui->layout;

	ui_layout(ui);
	if (l->tiny || (l->width == ui->made_width && l->body_height == ui->made_height))
		return;
	ui->made_width = l->width;
	ui->made_height = l->body_height;
	ui_view(ui)->update(ui);
	ui_layout(ui);
}

void screen_resize(struct ui *ui, int height, int width)
{
	ui->layout.width = width;
	ui->layout.height = height;
	lay_out(ui);
}

/* ---- input -------------------------------------------------------------------------------- */

/* A question takes every key, and says which it has no use for. */
static void question_key(struct ui *ui, int key)
{
	char name[KEY_NAMES_MAX];

	switch (prompt_key(&ui->prompt, ui, key)) {
	case PROMPT_TAKEN:
		break;
	case PROMPT_NO_SUCH_KEY:
		if (key == TERM_KEYS_UNKNOWN)
			key_names_sequence(term_keys_sequence(), name);
		else
			key_names_text(key, name);
		ui_message(
			ui, "%s does nothing in a question: Enter answers it, Esc leaves it", name);
		break;
	case PROMPT_FULL:
		ui_message(ui, "an answer has at most %d characters", PROMPT_TEXT_MAX - 1);
		break;
	case PROMPT_NOT_ASCII:
		ui_message(ui, "an answer has ASCII characters only");
		break;
	}
}

/* The key after one that asks what to show. False: it is no answer, and keeps its usual meaning. */
static bool choice_key(struct ui *ui, int key)
{
	const struct view *view = ui_view(ui);
	bool group = ui->pending == 'g' && view == view_table[VIEW_SITES];
	bool kinds = ui->pending == 'K' && view == view_table[VIEW_LEAKS];

	if (group || kinds)
		ui->pending = 0;
	return group ? group_choose(ui, key) : kinds && view_leaks_choose(ui, key);
}

void screen_key(struct ui *ui, int key)
{
	ui->message[0] = 0;
	if (view_output_types(ui)) {
		view_output_key(ui, key);
		return;
	}
	if (key != KEY_CTRL(']'))
		ui->output.just_back = false;
	ui->moments.was_active = ui->moments.active;
	ui->moments.active = false;
	if (ui->prompt.open) {
		question_key(ui, key);
		return;
	}
	if (choice_key(ui, key))
		return;
	if (key != 'g')
		ui->pending = 0;
	if (ui->leaving && key == 't' && ui->source->end && !ui->options.readonly) {
		ui->source->end(ui->source->ctx);
		ui->quit = true;
		return;
	}
	if (detach_answer(ui, key))
		return;
	if (key != 'q' && key != KEY_F(10))
		ui->leaving = false;
	keys_dispatch(ui, key);
}

void screen_pasted(struct ui *ui, int key)
{
	if (ui->prompt.open && key >= ' ' && key != 127)
		question_key(ui, key);
	else if (!ui->prompt.open)
		ui_message(ui, "pasted text is ignored: it would run as keys");
}

static bool is_in_row(const struct ui *ui, enum layout_row row, int y)
{
	int top = ui->layout.y[row], height = row == ROW_BODY	   ? ui->layout.body_height
					      : row == ROW_HISTORY ? ui->layout.history_height
								   : 1;

	return top >= 0 && y >= top && y < top + height;
}

/* The mouse on the timeline; a drag that began there may leave it. */
static bool mouse_moments(struct ui *ui, enum screen_mouse what, int y, int x)
{
	bool drags = ui->moments.dragging && what == SCREEN_DRAG;
	bool here = is_in_row(ui, ROW_HISTORY, y) && time_strip_cell(ui, x) >= 0;

	ui->moments.dragging = drags || (what == SCREEN_CLICK && here);
	if (!drags && !here)
		return what == SCREEN_DRAG || what == SCREEN_RELEASE;
	if (what == SCREEN_RELEASE || (what == SCREEN_DRAG && !drags))
		return true;
	ui_message_end(ui);
	if (what == SCREEN_WHEEL_UP || what == SCREEN_WHEEL_DOWN)
		moments_step(ui, what == SCREEN_WHEEL_UP ? -1 : 1, 0);
	else
		moments_point(ui, x, what == SCREEN_CLICK_RIGHT);
	return true;
}

void screen_mouse(struct ui *ui, enum screen_mouse what, int y, int x)
{
	int tab;

	if (ui->prompt.open || ui->layout.tiny)
		return;
	if (mouse_moments(ui, what, y, x))
		return;
	ui_message_end(ui);
	if (what == SCREEN_WHEEL_UP || what == SCREEN_WHEEL_DOWN) {
		ui_move(ui, what == SCREEN_WHEEL_UP ? LIST_WHEEL_UP : LIST_WHEEL_DOWN);
	} else if (what != SCREEN_CLICK) {
		return;
	} else if (is_in_row(ui, ROW_TABS, y)) {
		tab = header_tab_at(ui, x);
		if (tab >= 0)
			trail_end(ui);
		if (tab >= 0)
			ui_tab(ui, (enum view_id)tab);
	} else if (is_in_row(ui, ROW_HEAD, y)) {
		action_sort_click(ui, x);
	} else if (ui_view(ui)->click && is_in_row(ui, ROW_BODY, y)) {
		ui_view(ui)->click(ui, y, x);
	}
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* The screen is too small: its size, the least size, and how to leave. A message has the other
 * lines, or where there are none that of the sizes: it may ask whether to leave. */
static void draw_too_small(const struct ui *ui)
{
	char line[64];
	unsigned width = (unsigned)ui->layout.width;
	int height = ui->layout.height, y = height > 2 ? 2 : 0;

	snprintf(line, sizeof(line), "%dx%d, need %dx%d", ui->layout.width, ui->layout.height,
		LAYOUT_MIN_WIDTH, LAYOUT_MIN_HEIGHT);
	if (y > 0 || !ui->message[0])
		draw_text(0, 0, width, STYLE_PLAIN, line);
	if (height > 1)
		draw_text(1, 0, width, STYLE_PLAIN, "q quits heaptop");
	if (ui->message[0])
		draw_sentence(y, 0, width, y > 0 ? height - y : 1, STYLE_BOLD, ui->message);
}

static void draw_status(struct ui *ui)
{
	char text[UI_MESSAGE_MAX] = "", cut[UI_MESSAGE_MAX];
	unsigned width = (unsigned)ui->layout.width;

	if (ui->layout.y[ROW_STATUS] < 0)
		return;
	ui_view(ui)->status(ui, text, sizeof(text));
	header_since_status(ui, text, sizeof(text));
	text_elide_parts(cut, sizeof(cut), text, width - 2, draw_is_ascii());
	draw_text(ui->layout.y[ROW_STATUS], 1, width - 2, STYLE_PLAIN, cut);
}

/* Whether the program ended badly, with output that may explain it. */
static bool output_explains(const struct ui *ui)
{
	const struct snapshot *s = ui->current;

	return s && ui->source->output_lines && ui->stack[0] != VIEW_OUTPUT &&
	       (s->state == SNAP_KILLED || (s->state == SNAP_EXITED && s->exit_status > 0)) &&
	       ui->source->output_lines(ui->source->ctx) > 0;
}

/* The message line when there is no message. */
static void idle_text(struct ui *ui, char *text, size_t cap)
{
	char how[48];

	text[0] = 0;
	if (ui->pending == 'g' && ui_view(ui) == view_table[VIEW_SITES])
		snprintf(text, cap, "%s", group_choices());
	else if (ui_moment(ui) != SNAP_NOW)
		moment_words_idle(ui, text, cap);
	else if (ui->frozen)
		snprintf(text, cap,
			"frozen: %u newer snapshot%s waiting; only the header keeps updating",
			ui->waiting, ui->waiting == 1 ? " is" : "s are");
	else if (output_explains(ui))
		snprintf(text, cap, "the program %s; its output is in the Output tab (S-Tab)",
			snapshot_state_text(ui->current, how));
	else if (ui->layout.y[ROW_BAR] < 0)
		snprintf(text, cap, "? help  q %s", ui->depth > 1 ? "back" : "quit");
}

/* A view that has nothing to show says why, and what would fill it. */
static void draw_missing(const struct ui *ui, const struct tui_missing *m)
{
	unsigned width = (unsigned)ui->layout.width;
	int y = ui->layout.y[ROW_BODY], most = ui->layout.body_height, used;

	if (ui->layout.y[ROW_HEAD] >= 0)
		draw_fill(ui->layout.y[ROW_HEAD], 0, width, STYLE_HEAD);
	used = draw_sentence(y, 2, width - 3, m->remedy ? most - 1 : most, STYLE_WARN,
		m->why ? m->why : "Nothing is known here.");
	if (m->remedy)
		draw_sentence(y + used, 2, width - 3, most - used, STYLE_PLAIN, m->remedy);
}

/* A view that this moment cannot be shown in says so. */
static void draw_refusal(const struct ui *ui, const char *why)
{
	unsigned width = (unsigned)ui->layout.width;
	int y = ui->layout.y[ROW_BODY], most = ui->layout.body_height, used;
	bool replaced = ui_is_replaced(ui);
	char badge[MOMENT_WORDS_MAX], text[UI_MESSAGE_MAX];

	if (ui->layout.y[ROW_HEAD] >= 0)
		draw_fill(ui->layout.y[ROW_HEAD], 0, width, STYLE_HEAD);
	snprintf(text, sizeof(text), "Not available for %s.",
		replaced ? "the frozen rows" : moment_words_badge(ui, badge));
	used = draw_sentence(y, 2, width - 3, most - 1, STYLE_WARN, text);
	used += draw_sentence(y + used, 2, width - 3, most - used, STYLE_PLAIN, why);
	draw_sentence(y + used, 2, width - 3, most - used, STYLE_PLAIN,
		replaced ? "Space in Sites unfreezes them." : "F returns to the newest moment.");
}

/* A message that needs several lines takes those of the hints and, if need be, of the bar. */
static void draw_long_message(const struct ui *ui)
{
	unsigned width = (unsigned)ui->layout.width, cells = width - 2;
	int hint = ui->layout.y[ROW_HINT], y = ui->layout.y[ROW_MESSAGE];
	int last = ui->layout.y[ROW_BAR] > y ? ui->layout.y[ROW_BAR] : y;
	const char *text = ui->message;
	char line[UI_MESSAGE_MAX], cut[UI_MESSAGE_MAX];

	for (y = hint >= 0 ? hint : y; *text && y <= last; y++) {
		size_t n = y < last ? text_line(text, cells) : strlen(text);

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		text += n + strspn(text + n, " ");
		draw_fill(y, 0, width, STYLE_PLAIN);
		text_elide(cut, sizeof(cut), line, cells, false, draw_is_ascii());
		draw_text(y, 1, cells, STYLE_BOLD, cut);
	}
}

static void draw_message(struct ui *ui)
{
	char text[UI_MESSAGE_MAX], cut[UI_MESSAGE_MAX];
	unsigned width = (unsigned)ui->layout.width;
	int y = ui->layout.y[ROW_MESSAGE];
	bool said = ui->message[0];

	if (said && text_cells(ui->message) > width - 2) {
		draw_long_message(ui);
		return;
	}
	idle_text(ui, text, sizeof(text));
	text_elide(cut, sizeof(cut), said ? ui->message : text, width - 2, false, draw_is_ascii());
	draw_text(y, 1, width - 2, said ? STYLE_BOLD : STYLE_PLAIN, cut);
}

static void message_expire(struct ui *ui)
{
	if (ui->message[0] && ui_now_ns(ui) - ui->message_ns > MESSAGE_NS)
		ui_message_end(ui);
}

/* A question takes the message line, so a message takes that of the hints or, on small screens, the
 * question's place. */
static void draw_question(struct ui *ui)
{
	unsigned width = (unsigned)ui->layout.width;
	int hint = ui->layout.y[ROW_HINT];
	char cut[UI_MESSAGE_MAX];
	bool said = ui->message[0];

	text_elide(cut, sizeof(cut), ui->message, width - 2, false, draw_is_ascii());
	if (hint < 0)
		prompt_draw(&ui->prompt, said ? cut : ui->prompt.question,
			ui->layout.y[ROW_MESSAGE], width);
	else
		prompt_draw(&ui->prompt, ui->prompt.question, ui->layout.y[ROW_MESSAGE], width);
	if (said)
		draw_text(hint, 1, width - 2, STYLE_BOLD, cut);
	else if (ui->prompt.hint)
		draw_text(hint, 1, width - 2, STYLE_DIM, ui->prompt.hint);
	prompt_draw_bar(ui->layout.y[ROW_BAR], width);
}

/* The keys of the view in front, and of all; or the one that works while the program has the
 * keyboard. */
static void draw_keys(struct ui *ui)
{
	unsigned width = (unsigned)ui->layout.width;

	if (view_output_types(ui)) {
		draw_text(ui->layout.y[ROW_HINT], 1, width - 2, STYLE_KEY,
			"Ctrl-] takes the keyboard back; twice: sends Ctrl-] to the program");
		draw_message(ui);
		return;
	}
	if (ui->prompt.open) {
		draw_question(ui);
		return;
	}
	keys_draw_hints(ui, ui->layout.y[ROW_HINT], width);
	keys_draw_bar(ui, ui->layout.y[ROW_BAR], width);
	draw_message(ui);
}

/* The program's cursor, while it has the keyboard. */
static void draw_cursor(const struct ui *ui)
{
	int y, x;
	bool is_seen = view_output_cursor(ui, &y, &x);

	curs_set(is_seen);
	/* A cursor that nobody sees stays where the last change left it: eight bytes a frame. */
	leaveok(stdscr, !is_seen);
	if (is_seen)
		move(y, x);
}

void screen_draw(struct ui *ui)
{
	const struct tui_missing *missing = ui_front_missing(ui);
	const char *refusal = moment_words_refusal(ui);

	message_expire(ui);
	view_output_resize(ui);
	lay_out(ui);
	time_strip_update(ui);
	erase();
	if (ui->layout.tiny) {
		draw_too_small(ui);
	} else {
		header_draw(ui);
		if (missing) {
			draw_missing(ui, missing);
		} else if (refusal) {
			draw_refusal(ui, refusal);
		} else {
			ui_view(ui)->draw(ui);
			draw_status(ui);
		}
		draw_keys(ui);
	}
	draw_cursor(ui);
	wnoutrefresh(stdscr);
}
