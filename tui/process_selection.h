/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembers the selection of each process: it is restored when the screen returns to the process.
 * Main thread.
 */
#ifndef TUI_PROCESS_SELECTION_H
#define TUI_PROCESS_SELECTION_H

#include "tui/ui.h"

/* `s`: the last snapshot of the process that the screen leaves. */
void process_selection_save(struct ui *ui, const struct snapshot *s);
/* `s`: the first snapshot of the process that it shows now. */
void process_selection_restore(struct ui *ui, const struct snapshot *s);

#endif
