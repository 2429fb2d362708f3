/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views by name, for the table in ui.c. Main thread. */
#ifndef TUI_VIEWS_H
#define TUI_VIEWS_H

#include "tui/ui.h"

extern const struct view view_sites, view_output, view_detail, view_help;

/* Tells the program how large the Output tab is, if that changed. */
void view_output_tell_size(struct ui *ui);
void view_help_free(struct ui *ui);

#endif
