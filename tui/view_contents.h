/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contents of blocks: copies of each other, and zeros, by call site. Main thread. */
#ifndef TUI_VIEW_CONTENTS_H
#define TUI_VIEW_CONTENTS_H

#include "tui/ui.h"

extern const struct view view_contents;

/* Keys; the arguments are the key table's. */
void view_contents_show(struct ui *ui, int arg, int key); /* and scans, if there is no result */
void view_contents_enter(struct ui *ui, int arg, int key); /* the site's detail */

#endif
