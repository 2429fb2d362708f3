/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings: the choices, the columns of the tables, and the user's naming rules. A change takes
 * effect at once, and in later runs once W has saved it. The lines are made again after each
 * change. Main thread.
 */
#include "tui/view_settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/refresh.h"
#include "tui/settings_sync.h"
#include "tui/view_tree.h"

#define LINE_AT	    3 /* first cell of a setting, */
#define LABEL_CELLS 30 /* most of its label, which gives way to the value, */
#define VALUE_CELLS 12 /* and cells of the value */

static struct list *settings_list(struct ui *ui)
{
	return &ui->setup.list;
}

/* ---- the choices -------------------------------------------------------------------------- */

/* A choice's value is a number out of `steps`, or an index into `words`. */
struct choice {
	const char *label;
	size_t at; /* in struct settings */
	const char *const *words; /* NULL: `steps` */
	const unsigned *steps; /* 0 ends, unless it is the first */
	void (*format)(unsigned value, char *out);
	const char *help;
};

static void format_delay(unsigned ms, char *out)
{
	units_duration(out, ms * UINT64_C(1000000));
}

static void format_permille(unsigned permille, char *out)
{
	snprintf(out, UNITS_MAX, permille ? "%g%%" : "none", permille / 10.0);
}

static void format_number(unsigned n, char *out)
{
	snprintf(out, UNITS_MAX, "%u", n);
}

static void format_size(unsigned mb, char *out)
{
	if (mb)
		units_bytes(out, (uint64_t)mb << 20);
	else
		snprintf(out, UNITS_MAX, "none");
}

static void format_column(unsigned column, char *out)
{
	snprintf(out, UNITS_MAX, "%s", column_table[column].title);
}

static void format_group(unsigned by, char *out)
{
	snprintf(out, UNITS_MAX, "%s", group_table[by].key);
}

static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const names_words[] = { "short", "full", "mangled", "address", NULL };
static const unsigned delay_steps[] = { 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 0 };
static const unsigned least_steps[] = { 0, 1, 5, 10, 20, 50, 100, 0 };
static const unsigned depth_steps[] = { 1, 8, 16, 32, 64, 128, 256, 512, 1024, 0 };
static const unsigned history_steps[] = { 0, 1, 4, 8, 16, 32, 64, 128, 256, 1024, 0 };
static const unsigned column_steps[] = { COL_LIVE, COL_ERROR, COL_RATE, COL_TREND, COL_BLOCKS,
	COL_AVG, COL_PEAK, COL_AT_PEAK, COL_AT_PEAK_SHARE, COL_ALLOCS, COL_TEMP, COL_ALLOC_RATE,
	COL_BYTE_RATE, COL_TEMP_RATE, COL_TEMP_SHARE, COL_FREED_SHARE, COL_SITES, COL_SITE,
	COL_LINE, 0 };
static const unsigned group_steps[] = { GROUP_STACK, GROUP_CALLER, GROUP_FUNCTION, GROUP_FILE,
	GROUP_MODULE, GROUP_TYPE, GROUP_THREAD, 0 };

#define AT(field) offsetof(struct settings, field)

/* clang-format off */
static const struct choice choices[] = {
	{ "Sites: sorted by", AT(sort), NULL, column_steps, format_column, "initial order" },
	{ "Sites: reversed", AT(reverse), no_yes, NULL, NULL, "reverse order" },
	{ "Sites: columns", AT(set), settings_set_words, NULL, NULL, "for one question each (c)" },
	{ "Sites: a row is one", AT(group), NULL, group_steps, format_group, "grouping of the rows (g)" },
	{ "Names", AT(names), names_words, NULL, NULL, "form of function names (v)" },
	{ "All frames", AT(show_hidden), no_yes, NULL, NULL, "hide no frames (H)" },
	{ "Tree: children fold below", AT(least_permille), NULL, least_steps, format_permille, "of the root's bytes (T)" },
	{ "Delay between refreshes", AT(delay_ms), NULL, delay_steps, format_delay, "other values: key d" },
	{ "Header lines", AT(header), no_yes, NULL, NULL, "key #" },
	{ "Graphs", AT(glyphs), settings_glyphs_words, NULL, NULL, "characters to draw with" },
	{ "Colors", AT(color), settings_color_words, NULL, NULL, "auto: unless NO_COLOR is set" },
	{ "Theme", AT(theme), settings_theme_words, NULL, NULL, "safe: no red beside green" },
	{ "Mouse", AT(mouse), no_yes, NULL, NULL, "while on, Shift selects text" },
	{ "Follow children", AT(follow), no_yes, NULL, NULL, "for programs started later (W)" },
	{ "Frames per stack", AT(depth), NULL, depth_steps, format_number, "for programs started later (W)" },
	{ "History of a process", AT(history_mb), NULL, history_steps, format_size, "memory, for later runs (W)" },
	{ "Ask debuginfod servers", AT(debuginfod), no_yes, NULL, NULL, "for later runs (W)" },
};
/* clang-format on */
#define CHOICES (sizeof(choices) / sizeof(choices[0]))

static unsigned *choice_value(struct settings *s, const struct choice *c)
{
	return (unsigned *)(void *)((char *)s + c->at);
}

static void choice_format(const struct ui *ui, const struct choice *c, char out[UNITS_MAX])
{
	unsigned value = *(const unsigned *)(const void *)((const char *)&ui->settings + c->at);

	if (c->words)
		snprintf(out, UNITS_MAX, "%s", c->words[value]);
	else
		c->format(value, out);
}

/* Goes to the next or previous value; from a value between two steps, to the next larger one. */
static void choice_step(struct ui *ui, const struct choice *c, int step)
{
	unsigned *value = choice_value(&ui->settings, c), count = 0, at;

	settings_sync_collect(ui); /* keys may have changed other choices since the last tick */
	if (c->words) {
		while (c->words[count])
			count++;
		*value = (*value + count + (unsigned)step) % count;
	} else {
		for (count = 1; c->steps[count]; count++)
			;
		for (at = 0; at < count && c->steps[at] < *value; at++)
			;
		if (at == count || (c->steps[at] != *value && step > 0))
			at += count - (unsigned)step; /* the step below comes back here */
		*value = c->steps[(at + count + (unsigned)step) % count];
	}
	settings_sync_apply(ui);
}

/* ---- lines -------------------------------------------------------------------------------- */

static void line_add(struct setup_state *st, enum setup_kind kind, unsigned index, unsigned of)
{
	if (st->count < SETUP_LINES)
		st->line[st->count++] = (struct setup_line){ kind, index, of };
}

static const enum view_id table_view[SETTINGS_TABLES] = { VIEW_SITES, VIEW_TREE, VIEW_THREADS,
	VIEW_MODULES };

static void settings_lines(struct ui *ui)
{
	struct setup_state *st = &ui->setup;
	size_t rules = 0;

	st->count = 0;
	line_add(st, SETUP_HEAD, 0, 0);
	for (unsigned i = 0; i < CHOICES; i++)
		line_add(st, SETUP_CHOICE, i, 0);
	for (unsigned t = 0; t < SETTINGS_TABLES; t++) {
		line_add(st, SETUP_HEAD, 1, t);
		for (unsigned i = 0; i < settings_sync_columns(t); i++) {
			unsigned column = settings_sync_column_at(ui, t, i);

			if (t == SETTINGS_SITES || settings_sync_column_key(t, column))
				line_add(st, SETUP_COLUMN, column, t);
		}
	}
	line_add(st, SETUP_HEAD, 2, 0);
	for (unsigned i = 0; i < ui->settings.rules; i++)
		line_add(st, SETUP_RULE, i, 0);
	line_add(st, SETUP_ADD, 0, 0);
	line_add(st, SETUP_HEAD, 3, 0);
	if (ui->source->hide_rules)
		ui->source->hide_rules(ui->source->ctx, &rules);
	for (unsigned i = 0; i < rules; i++)
		line_add(st, SETUP_BUILT_IN, i, 0);
}

static void settings_update(struct ui *ui)
{
	settings_sync_collect(ui);
	settings_lines(ui);
	list_recount(&ui->setup.list, ui->setup.count);
}

static void settings_open(struct ui *ui)
{
	ui->setup.list =
		(struct list){ .height = ui->setup.list.height, .cursor = 1, .moved = true };
	settings_update(ui);
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void head_text(const struct setup_line *l, char *out, size_t cap)
{
	static const char *const heads[] = { "SETTINGS", NULL,
		"FUNCTIONS THAT NEVER NAME A SITE: yours; * matches any text",
		"THE SAME: built in; lines that begin with \"in\" match object files" };

	if (heads[l->index])
		snprintf(out, cap, "%s", heads[l->index]);
	else
		snprintf(out, cap, "COLUMNS OF %s, if the screen is wide enough",
			view_table[table_view[l->of]]->title);
}

static void built_in_text(const struct ui *ui, unsigned i, char *out, size_t cap)
{
	size_t count = 0;
	const char *const *rule = ui->source->hide_rules(ui->source->ctx, &count);

	snprintf(out, cap, "%s", i < count ? rule[i] : "");
}

static void column_line(const struct ui *ui, const struct setup_line *l, char *out, size_t cap)
{
	const char *key = settings_sync_column_key(l->of, l->index);
	unsigned cells = l->of == SETTINGS_SITES ? ui->look.cells[l->index] : 0;
	char width[24] = "";

	if (cells)
		snprintf(width, sizeof(width), "(%u cells) ", cells);
	snprintf(out, cap, "[%c] %-12s %s%s",
		key && settings_is_off(&ui->settings, (enum settings_table)l->of, key) ? ' ' : 'x',
		settings_sync_column_title(l->of, l->index), width,
		settings_sync_column_help(l->of, l->index));
}

/* The name at the left, the value at the right. */
static void line_text(const struct ui *ui, const struct setup_line *l, char *out, size_t cap)
{
	int width = ui->layout.width - LINE_AT - VALUE_CELLS - 2;
	unsigned room = width < 0 ? 0 : width > LABEL_CELLS ? LABEL_CELLS : (unsigned)width;
	char value[UNITS_MAX], label[4 * LABEL_CELLS];

	switch (l->kind) {
	case SETUP_HEAD:
		head_text(l, out, cap);
		break;
	case SETUP_CHOICE:
		choice_format(ui, &choices[l->index], value);
		text_elide(label, sizeof(label), choices[l->index].label, room, false,
			draw_is_ascii());
		snprintf(out, cap, "%s%*s %-*s %s", label, (int)(room - text_cells(label)), "",
			VALUE_CELLS, value, choices[l->index].help);
		break;
	case SETUP_COLUMN:
		column_line(ui, l, out, cap);
		break;
	case SETUP_RULE:
		snprintf(out, cap, "%s", ui->settings.rule[l->index]);
		break;
	case SETUP_ADD:
		snprintf(out, cap, "(add one: Enter)");
		break;
	case SETUP_BUILT_IN:
		built_in_text(ui, l->index, out, cap);
		break;
	}
}

static void settings_draw_line(const struct ui *ui, size_t row, int y)
{
	const struct setup_line *l = &ui->setup.line[row];
	unsigned width = (unsigned)ui->layout.width;
	bool selected = row == ui->setup.list.cursor;
	char text[512], cut[512];
	int x = l->kind == SETUP_HEAD ? 1 : LINE_AT;

	line_text(ui, l, text, sizeof(text));
	text_elide(cut, sizeof(cut), text, width - (unsigned)x - 1, false, draw_is_ascii());
	if (selected) {
		draw_fill(y, 0, width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	draw_text(y, x, width - (unsigned)x - 1,
		selected		    ? STYLE_SELECT
		: l->kind == SETUP_HEAD	    ? STYLE_BOLD
		: l->kind == SETUP_BUILT_IN ? STYLE_DIM
					    : STYLE_PLAIN,
		cut);
}

static void settings_draw(struct ui *ui)
{
	const struct list *l = &ui->setup.list;
	size_t end = l->top + l->height < l->count ? l->top + l->height : l->count;

	settings_sync_collect(ui);
	/* A heading is only shown together with a line after it. */
	while (end < l->count && end - 1 > l->cursor && ui->setup.line[end - 1].kind == SETUP_HEAD)
		end--;
	for (size_t i = 0; l->top + i < end; i++)
		settings_draw_line(ui, l->top + i, ui->layout.y[ROW_BODY] + (int)i);
}

static void settings_status(struct ui *ui, char *text, size_t cap)
{
	snprintf(text, cap, "changes take effect at once%s",
		ui->options.readonly	    ? ""
		: ui->source->settings_save ? "; W saves them for later runs"
					    : "");
}

/* ---- keys --------------------------------------------------------------------------------- */

static void rules_changed(struct ui *ui)
{
	if (ui->source->rules_set)
		ui->source->rules_set(ui->source->ctx, &ui->settings);
	/* Frames that were hidden may be nodes now, and vice versa. */
	view_tree_reset(ui);
	refresh_views(ui);
}

static void rule_accept(struct ui *ui, const char *text)
{
	int rc;

	if (!*text)
		return;
	rc = settings_rule_add(&ui->settings, text);
	if (rc == -EEXIST)
		ui_message(ui, "this rule exists already");
	else if (rc == -ENOSPC)
		ui_message(ui, "at most %u rules are possible", SETTINGS_RULES);
	else if (rc)
		ui_message(ui, "a rule is a function name, or part of one with *, up to %u bytes",
			SETTINGS_RULE_MAX - 1);
	if (rc)
		return;
	rules_changed(ui);
	ui_message(ui, "no site is named after %s any more", text);
}

static const struct setup_line *settings_line(const struct ui *ui)
{
	return ui->setup.list.cursor < ui->setup.count ? &ui->setup.line[ui->setup.list.cursor]
						       : NULL;
}

void view_settings_step(struct ui *ui, int step, int key)
{
	const struct setup_line *l = settings_line(ui);

	if (!l)
		return;
	switch (l->kind) {
	case SETUP_CHOICE:
		choice_step(ui, &choices[l->index], step);
		break;
	case SETUP_COLUMN:
		if (settings_sync_column_key(l->of, l->index))
			settings_sync_column_switch(ui, l->of, l->index);
		else
			ui_message(ui, "this column is always shown");
		break;
	case SETUP_ADD:
		prompt_open(&ui->prompt, "never name a site after:", "", rule_accept);
		break;
	case SETUP_RULE:
		ui_message(ui, "the Delete key deletes this rule");
		break;
	case SETUP_HEAD:
	case SETUP_BUILT_IN:
		ui_message(ui, "nothing to choose here");
		break;
	}
	settings_lines(ui);
}

/* The line of a column of the site table; or NULL, and the user knows. */
static const struct setup_line *settings_site_column(struct ui *ui)
{
	const struct setup_line *l = settings_line(ui);

	if (l && l->kind == SETUP_COLUMN && l->of == SETTINGS_SITES)
		return l;
	ui_message(ui, "this works only for the columns of Sites");
	return NULL;
}

void view_settings_move(struct ui *ui, int step, int key)
{
	const struct setup_line *l = settings_site_column(ui);
	unsigned at = 0, to;

	if (!l)
		return;
	while (settings_sync_column_at(ui, SETTINGS_SITES, at) != l->index)
		at++;
	to = settings_sync_column_move(ui, at, step);
	settings_update(ui);
	list_select(&ui->setup.list, ui->setup.list.cursor + to - at);
}

void view_settings_size(struct ui *ui, int step, int key)
{
	const struct setup_line *l = settings_site_column(ui);

	if (l && l->index == COL_SITE)
		ui_message(ui, "the call site takes what the other columns leave");
	else if (l)
		settings_sync_column_size(ui, (enum column)l->index, step);
}

void view_settings_delete(struct ui *ui, int arg, int key)
{
	const struct setup_line *l = settings_line(ui);

	if (!l || l->kind != SETUP_RULE) {
		ui_message(ui, "only your own rules can be deleted");
		return;
	}
	settings_rule_remove(&ui->settings, l->index);
	rules_changed(ui);
	settings_update(ui);
}

/* Shows the rules from their heading on, as many as fit. */
static void settings_show_rules(struct ui *ui)
{
	struct list *l = &ui->setup.list;

	for (unsigned i = 0; i + 1 < ui->setup.count; i++) {
		if (ui->setup.line[i].kind != SETUP_HEAD || ui->setup.line[i].index != 2)
			continue;
		list_go(l, LIST_END);
		l->top = i < l->top ? i : l->top;
		list_select(l, i + 1);
	}
}

void view_settings_open(struct ui *ui, int at_rules, int key)
{
	if (ui_view(ui) == view_table[VIEW_SETTINGS] && !at_rules)
		ui_pop(ui);
	else if (ui_view(ui) != view_table[VIEW_SETTINGS] && !ui_push(ui, VIEW_SETTINGS))
		return;
	if (at_rules)
		settings_show_rules(ui);
}

static void settings_click(struct ui *ui, int y, int x)
{
	size_t row = ui->setup.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);
	bool again = row == ui->setup.list.cursor;

	if (row >= ui->setup.count)
		return;
	list_select(&ui->setup.list, row);
	if (again)
		view_settings_step(ui, 1, 0);
}

const struct view view_settings = {
	.title = "Settings",
	.scope = IN_SETTINGS,
	.flags = LAYOUT_NO_HEAD | LAYOUT_COMPACT,
	.open = settings_open,
	.update = settings_update,
	.draw = settings_draw,
	.status = settings_status,
	.list = settings_list,
	.click = settings_click,
};
