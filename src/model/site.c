/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a call site calls itself: after the frame that the naming rule picked, or after its innermost
 * one when the user wants to see the allocators too. Pure; main thread.
 */
#include "src/model/columns.h"

static const struct frame *site_frame(const struct snap_site *site, const struct row_style *style)
{
	const struct stack *stack = site->stack;
	uint32_t i = style->show_hidden || stack->title >= stack->nframes ? 0 : stack->title;

	return &stack->frames[i];
}

void site_name(const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	frame_name(site_frame(site, style), style->full_names, style->site_cells,
		style->glyphs == GLYPHS_ASCII, out, cap);
}

void site_place(const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	frame_place(site_frame(site, style), style->line_cells, style->glyphs == GLYPHS_ASCII, out,
		cap);
}
