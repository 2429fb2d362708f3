/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The previous views: where a key left for another tab, with the cursors as they were, so that
 * Esc and Backspace lead back. Switching by Tab or by a click on a tab clears it. Main thread.
 */
#ifndef TUI_TRAIL_H
#define TUI_TRAIL_H

#include "tui/ui.h"

/* Call before a key leaves for a tab, of which `depth` views will be open: 1 is the tab alone. */
void trail_leave(struct ui *ui, enum view_id tab, unsigned depth);
/* Back to where the last key left from, if it led here. False: it did not. */
bool trail_back(struct ui *ui);
/* The key that led here has set a filter: it is no change of the user's. */
void trail_arrived(struct ui *ui);
/* Undoes a change of the filter since the key led here. False: there was none. */
bool trail_filter_back(struct ui *ui);
/* Forgets the way. */
void trail_end(struct ui *ui);

#endif
