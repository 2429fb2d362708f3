/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings and what they are of: from struct settings to the screen, back from it, and into their
 * file. Main thread.
 */
#ifndef TUI_SETTLE_H
#define TUI_SETTLE_H

#include "tui/ui.h"

/* As the program starts: what the options say. */
void settle_start(struct ui *ui);
/* The screen becomes what the settings say. */
void settle_apply(struct ui *ui);
/* The settings become what keys have made of the screen. */
void settle_take(struct ui *ui);
/* The key W. */
void settle_save(struct ui *ui, int arg, int key);

/* Columns of the tables, by enum settings_table. A key of NULL: it cannot be switched off. */
unsigned settle_columns(unsigned table);
const char *settle_column_key(unsigned table, unsigned column);
const char *settle_column_title(unsigned table, unsigned column);
const char *settle_column_help(unsigned table, unsigned column);
void settle_column_switch(struct ui *ui, unsigned table, unsigned column);

#endif
