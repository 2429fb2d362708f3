/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marks, and which two of them are compared. Main thread. */
#ifndef TUI_VIEW_MARKS_H
#define TUI_VIEW_MARKS_H

#include "tui/ui.h"

extern const struct view view_marks;

bool view_marks_can_mark(const struct ui *ui);

/* Keys: a new mark, which two are compared, and the list of them. */
void view_marks_mark(struct ui *ui, int arg, int key);
void view_marks_from(struct ui *ui, int arg, int key);
void view_marks_to(struct ui *ui, int arg, int key);
void view_marks_clear(struct ui *ui, int arg, int key);
void view_marks_show(struct ui *ui, int arg, int key);
void view_marks_sites(struct ui *ui, int arg, int key);

#endif
