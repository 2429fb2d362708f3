/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call site in a line of a report (site_title.h). */
#include "src/export/site_title.h"

#include <string.h>

struct row_style site_title_style(const struct export_options *o)
{
	return (struct row_style){ .glyphs = o->ascii ? GLYPHS_ASCII : GLYPHS_BLOCKS,
		.names = o->names,
		.show_hidden = o->show_hidden };
}

void site_title(struct strbuf *out, const struct snap_site *site, const struct row_style *style)
{
	char name[COLUMN_TEXT_MAX], place[COLUMN_TEXT_MAX];

	site_name(site, style, name, sizeof(name));
	site_place(site, style, place, sizeof(place));
	strbuf_puts(out, name);
	if (place[0] && strncmp(name, "?? ", 3) != 0)
		strbuf_printf(out, " (%s)", place);
	strbuf_putc(out, '\n');
}
