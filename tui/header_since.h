/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moment from which growth is counted, in words. Main thread. */
#ifndef TUI_HEADER_SINCE_H
#define TUI_HEADER_SINCE_H

#include "tui/infoline.h"
#include "tui/ui.h"

/* Adds "since mark 1" to the line of tabs, if the view in front has such figures; on a wide screen
 * with the mark's name. */
void header_since_add(const struct ui *ui, struct infoline *s);
/* Appends it with the name to the status line, on a narrow screen and if there is a name. */
void header_since_status(const struct ui *ui, char *text, size_t cap);

#endif
