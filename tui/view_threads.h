/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads. Main thread. */
#ifndef TUI_VIEW_THREADS_H
#define TUI_VIEW_THREADS_H

#include "tui/ui.h"

extern const struct view view_threads;

/* The call sites where the thread under the cursor allocated. */
void view_threads_sites(struct ui *ui, int arg, int key);

#endif
