/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call sites that a view lists outside a table of sites: what distinguishes those with the same
 * name and place (src/model/twins.h). Main thread.
 */
#ifndef TUI_SITE_TWINS_H
#define TUI_SITE_TWINS_H

#include "tui/ui.h"

#define SITE_TWINS_NONE UINT32_MAX /* a line without a call site */

/* Compares the call sites of a view's lines, given by their ids, at most TWINS_ROWS. For the frame
 * that is being drawn: the next list replaces this one. */
void site_twins_find(struct ui *ui, const uint32_t *id, size_t n);
/* What tells line `i` of them apart, for struct row_style, or NULL. */
const char *site_twins_text(const struct ui *ui, size_t i, char out[TWINS_TEXT]);

#endif
