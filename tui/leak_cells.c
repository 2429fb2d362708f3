/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of Leaks (leak_cells.h). */
#include "tui/leak_cells.h"

#include <stdio.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/leaks.h"
#include "src/model/site_type.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"

static void since_text(const struct ui *ui, const struct leaks_row *row, char *out)
{
	char bytes[UNITS_MAX];
	double since;

	if (leak_list_since(ui, row, &since))
		sprintf(out, "%s%s",
			since > 0   ? "+"
			: since < 0 ? "-"
				    : "",
			units_bytes(bytes, (uint64_t)(since < 0 ? -since : since)));
	else if (leak_list_is_found(row))
		strcpy(out, "new");
}

static bool is_suppressed(const struct leaks_row *row)
{
	return row->leak && row->leak->suppressed;
}

#define NAME_LEAST 6 /* cells; with fewer, a name has no line beside it */

static const struct frame *title_frame(const struct ui *ui, const struct snap_site *site)
{
	const struct stack *s = site->stack;

	return snapshot_frame(s, ui->show_hidden || s->title >= s->nframes ? 0 : s->title);
}

/* Has another row on the screen this function, at another line? */
static bool has_other_line(const struct ui *ui, const struct snap_site *site)
{
	const struct list *l = &ui->leaks.list;
	const struct frame *f = title_frame(ui, site), *other;

	for (size_t i = l->top; f->function && i < l->count && i < l->top + l->height; i++) {
		if (!ui->leaks.row[i].site)
			continue;
		other = title_frame(ui, ui->leaks.row[i].site);
		if (other->function && other->line != f->line &&
			!strcmp(other->function, f->function))
			return true;
	}
	return false;
}

/* Where the file does not fit: rows of one function still differ by their lines, for which the name
 * gives way if it must. */
static void site_beside_line(const struct ui *ui, const struct snap_site *site,
	const struct row_style *style, const char *name, char *out)
{
	const char *cut = draw_is_ascii() ? "..." : "…";
	struct row_style whole = *style;
	char place[128], shorter[512];
	const char *line;
	unsigned room;

	whole.line_cells = 0;
	site_place(site, &whole, place, sizeof(place));
	line = strrchr(place, ':');
	room = style->site_cells - (line ? (unsigned)text_cells(line) : 0);
	if (line && text_cells(name) + text_cells(cut) < room) {
		room -= (unsigned)text_cells(cut);
	} else if (line && style->site_cells >= NAME_LEAST + text_cells(line) &&
		   has_other_line(ui, site)) {
		whole.site_cells = room;
		site_name(site, &whole, shorter, sizeof(shorter));
		name = shorter;
		cut = "";
	} else {
		text_elide(out, COLUMN_TEXT_MAX, name, style->site_cells, false, draw_is_ascii());
		return;
	}
	snprintf(out, COLUMN_TEXT_MAX, "%s%*s%s%s", name, (int)(room - text_cells(name)), "", cut,
		line);
}

static void leaks_site_text(const struct ui *ui, const struct leaks_row *row, const char *twin,
	unsigned cells, char *out)
{
	struct row_style style = ui_style(ui);
	char name[512], place[128], text[700];

	if (!row->site) {
		text_elide(out, COLUMN_TEXT_MAX, "(not known yet)", cells, false, draw_is_ascii());
		return;
	}
	style.twin = twin;
	style.site_cells = cells;
	site_name(row->site, &style, name, sizeof(name));
	site_place(row->site, &style, place, sizeof(place));
	if (text_cells(name) + text_cells(place) + 2 <= cells) {
		snprintf(text, sizeof(text), "%s%*s%s", name,
			(int)(cells - text_cells(name) - text_cells(place)), "", place);
		text_elide(out, COLUMN_TEXT_MAX, text, cells, false, draw_is_ascii());
	} else {
		site_beside_line(ui, row->site, &style, name, out);
	}
}

/* The snapshot of a saved result has no types. */
static void type_text(const struct leaks_row *row, unsigned cells, char *out)
{
	const struct snap_type saved = { .name = row->leak ? row->leak->type : NULL };
	bool known = row->site && row->site->type.name;

	if (!row->cycle)
		site_type_text(known ? &row->site->type : &saved, cells, draw_is_ascii(), out);
}

static void cycle_text(const struct ui *ui, const struct leaks_row *row, unsigned cells, char *out)
{
	char text[LEAKS_CYCLE_MAX];

	leaks_cycle_name(ui->leaks.last, row->cycle, ui->shown, text);
	text_elide(out, COLUMN_TEXT_MAX, text, cells, false, draw_is_ascii());
}

void leak_cells_text(const struct ui *ui, const struct leaks_row *row, const char *twin,
	const struct table_place *p, char out[COLUMN_TEXT_MAX])
{
	uint64_t ns;

	*out = 0;
	switch (p->column) {
	case BY_KIND:
		strcpy(out, row->cycle		 ? "cycle"
			    : is_suppressed(row) ? "suppressed"
						 : leak_list_kind(row));
		break;
	case BY_BYTES:
		units_bytes(out, leak_list_sum(row).bytes);
		break;
	case BY_BLOCKS:
		units_count(out, leak_list_sum(row).blocks);
		break;
	case BY_KEEPS:
		if (leak_list_keeps(row).blocks)
			units_bytes(out, leak_list_keeps(row).bytes);
		break;
	case BY_TYPE:
		type_text(row, p->cells, out);
		break;
	case BY_INDIRECT:
		if (row->is_head && leak_list_keeps(row).bytes > leak_list_sum(row).bytes)
			units_bytes(out, leak_list_keeps(row).bytes - leak_list_sum(row).bytes);
		else if (!row->is_head && row->leak && row->leak->indirect.blocks)
			units_bytes(out, row->leak->indirect.bytes);
		break;
	case BY_OLDEST:
		if (leak_list_oldest(ui, row, &ns))
			units_duration(out, ns);
		break;
	case BY_SINCE:
		since_text(ui, row, out);
		break;
	case BY_CONFIDENCE:
		strcpy(out, leaks_confidence_word(leak_list_confidence(ui, row)));
		break;
	case BY_GROWTH:
		if (leak_list_grows(row))
			strcpy(out, growth_word_text(&row->site->growth));
		break;
	default:
		if (row->cycle)
			cycle_text(ui, row, p->cells, out);
		else
			leaks_site_text(ui, row, twin, p->cells, out);
	}
}
