/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call sites by object file. Main thread. */
#ifndef TUI_VIEW_MODULES_H
#define TUI_VIEW_MODULES_H

#include "tui/ui.h"

extern const struct view view_modules;

/* A key: the call sites of the selected object file, in the table. */
void view_modules_sites(struct ui *ui, int arg, int key);

#endif
