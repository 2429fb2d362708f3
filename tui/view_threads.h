/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads. Main thread. */
#ifndef TUI_VIEW_THREADS_H
#define TUI_VIEW_THREADS_H

#include "tui/ui.h"

extern const struct view view_threads;

#endif
