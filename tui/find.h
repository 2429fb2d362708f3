/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding a line (/ n N) and showing only those call sites that match (\). Both take the
 * expressions of src/model/filter.h. Main thread.
 */
#ifndef TUI_FIND_H
#define TUI_FIND_H

#include "tui/ui.h"

/* Keys; the arguments are the key table's. */
void find_ask(struct ui *ui, int arg, int key);
void find_again(struct ui *ui, int step, int key);
void find_filter_ask(struct ui *ui, int arg, int key);
bool find_has_filter(const struct ui *ui);

/* Shows what matches only; NULL or empty: everything. 0, or -EINVAL after saying why. */
int find_filter_set(struct ui *ui, const char *text);
/* Whether a line of text is one of those looked for, and so stands out. */
bool find_is_match(const struct ui *ui, const char *text);
void find_free(struct ui *ui);

#endif
