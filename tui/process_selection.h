/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the screen goes from one process to another: what was selected is remembered, and selected
 * again when the screen comes back. Main thread.
 */
#ifndef TUI_PROCESS_SELECTION_H
#define TUI_PROCESS_SELECTION_H

#include "tui/ui.h"

/* `s` is the last snapshot of the process that the screen leaves. */
void process_selection_save(struct ui *ui, const struct snapshot *s);
/* `s` is the first one of the process that it shows now. */
void process_selection_restore(struct ui *ui, const struct snapshot *s);

#endif
