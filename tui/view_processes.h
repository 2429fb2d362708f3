/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded processes. Main thread. */
#ifndef TUI_VIEW_PROCESSES_H
#define TUI_VIEW_PROCESSES_H

#include "tui/ui.h"

extern const struct view view_processes;

/* Keys: the list, and back from it; the process under the cursor comes to the screen. */
void view_processes_toggle(struct ui *ui, int arg, int key);
void view_processes_show(struct ui *ui, int arg, int key);
/* Opens or folds what is below the process under the cursor; or goes to the one above. */
void view_processes_fold(struct ui *ui, int open, int key);
/* Leaves out those that ended, and shows them again. */
void view_processes_ended(struct ui *ui, int arg, int key);
bool view_processes_hides_ended(const struct ui *ui);

#endif
