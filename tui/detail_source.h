/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chosen frame of the site detail: which one it is, its lines of source, and the keys that take
 * it to an editor or the clipboard. Main thread.
 */
#ifndef TUI_DETAIL_SOURCE_H
#define TUI_DETAIL_SOURCE_H

#include "tui/ui.h"

/* The index of the chosen frame in the site's stack; at first, of the frame that names the site. */
uint32_t detail_source_frame(const struct ui *ui, const struct snap_site *site);
/* Chooses a frame. */
void detail_source_choose_frame(struct ui *ui, const struct snap_site *site, uint32_t frame);

/* Draws `lines` lines of source around the chosen frame. */
void detail_source_draw(
	const struct ui *ui, const struct snap_site *site, int y, unsigned cells, unsigned lines);

/* Keys: the editor at the chosen frame's line; the stack into the terminal's clipboard. */
void detail_source_edit(struct ui *ui);
void detail_source_copy(struct ui *ui, int arg, int key);

/* Opens the source of any frame of a stack in the editor, or says why not. */
void detail_source_edit_frame(struct ui *ui, const struct stack *stack, const struct frame *f);

#endif
