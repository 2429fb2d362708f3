/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The help screen. Main thread. */
#ifndef TUI_VIEW_HELP_H
#define TUI_VIEW_HELP_H

#include "tui/ui.h"

extern const struct view view_help;

#endif
