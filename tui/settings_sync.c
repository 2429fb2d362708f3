/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the settings and the screen (settings_sync.h). Keys change the state of the screen, so
 * the settings are updated from it before they are shown or saved. Main thread.
 */
#include "tui/settings_sync.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "tui/draw.h"
#include "tui/group.h"
#include "tui/refresh.h"
#include "tui/table.h"
#include "tui/term.h"

/* ---- columns ------------------------------------------------------------------------------ */

/* The table's columns; NULL for Sites, whose columns are those of the model. */
static const struct table *settings_sync_table(unsigned table)
{
	static const struct ui none;

	switch (table) {
	case SETTINGS_TREE:
		return view_table[VIEW_TREE]->table(&none);
	case SETTINGS_THREADS:
		return view_table[VIEW_THREADS]->table(&none);
	case SETTINGS_MODULES:
		return view_table[VIEW_MODULES]->table(&none);
	default:
		return NULL;
	}
}

unsigned settings_sync_columns(unsigned table)
{
	return table == SETTINGS_SITES ? COL_COUNT : settings_sync_table(table)->count;
}

const char *settings_sync_column_title(unsigned table, unsigned column)
{
	return table == SETTINGS_SITES ? column_table[column].title
				       : settings_sync_table(table)->column[column].title;
}

const char *settings_sync_column_help(unsigned table, unsigned column)
{
	return table == SETTINGS_SITES ? column_table[column].help
				       : settings_sync_table(table)->column[column].help;
}

/* A column's key is its title in lower case, with dashes for blanks. */
static const char *title_key(const char *title)
{
	static char key[32];
	size_t n = 0;

	for (; title[n] && n + 1 < sizeof(key); n++)
		key[n] = title[n] == ' ' ? '-' : (char)tolower((unsigned char)title[n]);
	key[n] = '\0';
	return key;
}

const char *settings_sync_column_key(unsigned table, unsigned column)
{
	const struct table_column *c;

	if (table == SETTINGS_SITES)
		return column == COL_SITE ? NULL : column_table[column].key;
	c = &settings_sync_table(table)->column[column];
	return c->cells ? title_key(c->title) : NULL;
}

static uint64_t columns_off(const struct settings *s, unsigned table)
{
	uint64_t off = 0;

	for (unsigned i = 0; i < settings_sync_columns(table); i++)
		if (settings_sync_column_key(table, i) &&
			settings_is_off(
				s, (enum settings_table)table, settings_sync_column_key(table, i)))
			off |= UINT64_C(1) << i;
	return off;
}

static void columns_apply(struct ui *ui)
{
	unsigned char order[COL_COUNT];

	for (unsigned at = 0; at < COL_COUNT; at++)
		order[at] = (unsigned char)layout_usual(at);
	settings_order(&ui->settings, order);
	memcpy(ui->look.order, order, sizeof(order));
	ui->look.ordered = true;
	for (unsigned c = 0; c < COL_COUNT; c++)
		ui->look.cells[c] = (unsigned char)settings_width(&ui->settings, (enum column)c);
	ui->columns_off = columns_off(&ui->settings, SETTINGS_SITES);
	for (unsigned t = SETTINGS_SITES + 1; t < SETTINGS_TABLES; t++)
		*settings_sync_table(t)->off = (unsigned)columns_off(&ui->settings, t);
}

void settings_sync_column_switch(struct ui *ui, unsigned table, unsigned column)
{
	const char *key = settings_sync_column_key(table, column);
	enum settings_table t = (enum settings_table)table;

	if (settings_switch(&ui->settings, t, key, !settings_is_off(&ui->settings, t, key)) != 0)
		ui_message(ui, "not changed: too many columns are switched off");
	columns_apply(ui);
}

unsigned settings_sync_column_at(const struct ui *ui, unsigned table, unsigned at)
{
	return table == SETTINGS_SITES ? ui->look.order[at] : at;
}

unsigned settings_sync_column_move(struct ui *ui, unsigned at, int step)
{
	unsigned char order[COL_COUNT], *from = order + at;

	memcpy(order, ui->look.order, sizeof(order));
	if ((int)at + step < 0 || (int)at + step >= COL_COUNT)
		return at;
	*from = from[step];
	from[step] = ui->look.order[at];
	settings_order_set(&ui->settings, order);
	columns_apply(ui);
	return (unsigned)((int)at + step);
}

void settings_sync_column_size(struct ui *ui, enum column column, int step)
{
	struct layout_column shown[COL_COUNT];
	struct layout_kind kind = ui_kind(ui);
	unsigned n, cells = ui->look.cells[column];

	kind.sort = (int)column; /* so that it is shown */
	n = layout_columns(ui->layout.width, kind, shown);
	for (unsigned i = 0; i < n && !cells; i++)
		if (shown[i].column == column)
			cells = shown[i].cells;
	if ((step < 0 && cells <= SETTINGS_WIDTH_MIN) || (step > 0 && cells >= SETTINGS_WIDTH_MAX))
		return;
	if (settings_width_set(&ui->settings, column, cells + (unsigned)step))
		ui_message(ui, "not changed: too many columns have a width of their own");
	columns_apply(ui);
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void look_apply(const struct settings *s)
{
	draw_configure((enum settings_color)s->color, (enum settings_glyphs)s->glyphs,
		(enum settings_theme)s->theme);
	term_mouse(s->mouse);
}

/* A range has an order of its own for a while; what was changed here replaces it. */
static void order_apply(struct ui *ui)
{
	const struct settings *s = &ui->settings;
	struct moments_state *m = &ui->moments;

	if (!m->sorted || m->sort != (enum column)s->sort)
		ui->sort = (enum column)s->sort;
	if (!m->sorted || m->reverse != s->reverse)
		ui->reverse = s->reverse;
	m->sort = (enum column)s->sort;
	m->reverse = s->reverse;
}

void settings_sync_apply(struct ui *ui)
{
	const struct settings *s = &ui->settings;

	order_apply(ui);
	ui->set = (enum column_set)s->set;
	ui->names = (enum name_style)s->names;
	ui->show_hidden = s->show_hidden;
	ui->header_off = !s->header;
	ui->delay_changed |= ui->options.delay_ns != s->delay_ms * UINT64_C(1000000);
	ui->options.delay_ns = s->delay_ms * UINT64_C(1000000);
	ui->options.no_mouse = !s->mouse;
	ui->tree.least_permille = s->least_permille;
	if (ui->group.by != (enum group_by)s->group)
		group_set(ui, (enum group_by)s->group);
	columns_apply(ui);
	look_apply(s);
	ui->sites.drawn = 0;
	refresh_views(ui);
}

void settings_sync_collect(struct ui *ui)
{
	struct settings *s = &ui->settings;

	/* In a range: of the order outside it. */
	s->sort = ui->moments.sorted ? ui->moments.sort : ui->sort;
	s->reverse = ui->moments.sorted ? ui->moments.reverse : ui->reverse;
	s->set = ui->set;
	s->names = ui->names;
	s->show_hidden = ui->show_hidden;
	s->header = !ui->header_off;
	s->delay_ms = (unsigned)(ui->options.delay_ns / 1000000);
	s->least_permille = ui->tree.least_permille;
	s->group = ui->group.by;
}

void settings_sync_start(struct ui *ui)
{
	const struct settings *s = ui->options.settings;

	if (!s)
		settings_default(&ui->settings);
	else
		ui->settings = *s;
	ui->tree.least_permille = ui->settings.least_permille;
	ui->set = (enum column_set)ui->settings.set;
	ui->header_off = !ui->settings.header;
	columns_apply(ui);
	if (s)
		look_apply(s);
	if (ui->options.trouble)
		ui_message(ui, "%s", ui->options.trouble);
}

void settings_sync_save(struct ui *ui, int arg, int key)
{
	char said[UI_MESSAGE_MAX] = "";

	if (!ui->source->settings_save) {
		ui_message(ui, "not saved: there is no settings file");
		return;
	}
	settings_sync_collect(ui);
	ui->source->settings_save(ui->source->ctx, &ui->settings, said, sizeof(said));
	ui_message(ui, "%s", said);
}
