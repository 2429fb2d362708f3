/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a line (/ n N), and filters the call sites (\). Both take the expressions of
 * src/model/filter.h. Main thread.
 */
#ifndef TUI_FIND_H
#define TUI_FIND_H

#include "tui/ui.h"

/* Keys; the arguments are the key table's. */
void find_ask(struct ui *ui, int arg, int key);
void find_again(struct ui *ui, int step, int key);
void find_filter_ask(struct ui *ui, int arg, int key);
bool find_has_filter(const struct ui *ui);

/* Sets the filter; NULL or empty: none. Returns 0, or -EINVAL after a message. */
int find_filter_set(struct ui *ui, const char *text);
/* Does a line of text match the last search, and so is highlighted? */
bool find_is_match(const struct ui *ui, const char *text);
void find_free(struct ui *ui);

#endif
