/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites of one name in a view's list (site_twins.h). */
#include "tui/site_twins.h"

#include "tui/draw.h"

void site_twins_find(struct ui *ui, const uint32_t *id, size_t n)
{
	const struct snap_site *site[TWINS_ROWS];

	n = n < TWINS_ROWS ? n : TWINS_ROWS;
	for (size_t i = 0; i < n; i++)
		site[i] = id[i] == SITE_TWINS_NONE ? NULL : ui_any_site(ui, id[i]);
	twins_find_sites(&ui->twins, site, n, ui->show_hidden);
}

const char *site_twins_text(const struct ui *ui, size_t i, char out[TWINS_TEXT])
{
	return twins_text(&ui->twins, i, draw_glyph_set(), out);
}
