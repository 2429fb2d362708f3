/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything known about one row of Leaks. Main thread. */
#ifndef TUI_VIEW_WHY_H
#define TUI_VIEW_WHY_H

#include "tui/ui.h"

extern const struct view view_why;

#endif
