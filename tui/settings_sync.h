/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the settings and the screen in agreement: from struct settings to the screen, back, and
 * into their file. Main thread.
 */
#ifndef TUI_SETTINGS_SYNC_H
#define TUI_SETTINGS_SYNC_H

#include "tui/ui.h"

/* At the start: the settings that the options give. */
void settings_sync_start(struct ui *ui);
/* Applies the settings to the screen. */
void settings_sync_apply(struct ui *ui);
/* Updates the settings from the screen, which keys have changed. */
void settings_sync_collect(struct ui *ui);
/* The key W. */
void settings_sync_save(struct ui *ui, int arg, int key);

/* Columns of the tables, by enum settings_table. A key of NULL: it cannot be switched off. */
unsigned settings_sync_columns(unsigned table);
const char *settings_sync_column_key(unsigned table, unsigned column);
const char *settings_sync_column_title(unsigned table, unsigned column);
const char *settings_sync_column_help(unsigned table, unsigned column);
/* The column at a place, from the left. */
unsigned settings_sync_column_at(const struct ui *ui, unsigned table, unsigned at);
/* Columns of the site table: exchanges the one at a place with its neighbour, and returns where it
 * is then; and makes one wider or narrower. */
unsigned settings_sync_column_move(struct ui *ui, unsigned at, int step);
void settings_sync_column_size(struct ui *ui, enum column column, int step);
void settings_sync_column_switch(struct ui *ui, unsigned table, unsigned column);

#endif
