/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mark that SINCE counts from, in the line of tabs, and where that has no room for names, in
 * the status line (header_since.h). Called for each frame, on the main thread.
 */
#include "tui/header_since.h"

#include <stdio.h>
#include <string.h>
#include "src/model/mark_list.h"
#include "src/util/text.h"

#define TABS_CELLS   68 /* of the tabs, "since" and the blanks between them */
#define LEAD	     "SINCE: "
#define MOMENTS_TEXT (2 * MARK_LIST_TEXT + 8)

/* A moment that the rows are counted from or to; its name only with `whole`. */
static const char *since_text(const struct snap_mark *m, bool whole, char text[MARK_LIST_TEXT])
{
	struct snap_mark nameless = *m;

	/* Of "A (before.json)", a side of a diff, the letter stays. */
	nameless.name[m->number ? 0 : strcspn(m->name, " ")] = '\0';
	return mark_list_text(whole ? m : &nameless, text);
}

static bool counts_since(const struct ui *ui)
{
	return ui_counts_since(ui) && ui_moment(ui) != SNAP_RANGE &&
	       ui_view(ui)->scope & (IN_SITES | IN_TREE | IN_MODULES | IN_DETAIL);
}

/* "mark 1 (warm-up) to mark 2 (load)". */
static void moments_text(const struct snapshot *snap, bool whole, char *out, size_t cap)
{
	char from[MARK_LIST_TEXT], to[MARK_LIST_TEXT];

	snprintf(out, cap, "%s%s%s", since_text(snap->since, whole, from),
		snap->until ? " to " : "", snap->until ? since_text(snap->until, whole, to) : "");
}

/* Beside the tabs of a narrow screen names do not fit: the status line has them. */
static bool has_room(const struct ui *ui, const char *text)
{
	return text_cells(text) + TABS_CELLS <= (size_t)ui->layout.width;
}

void header_since_add(const struct ui *ui, struct infoline *s)
{
	char text[MOMENTS_TEXT];

	if (!counts_since(ui))
		return;
	moments_text(ui->shown, true, text, sizeof(text));
	if (!has_room(ui, text))
		moments_text(ui->shown, false, text, sizeof(text));
	infoline_right(s, 88, STYLE_WARN, "%s%s", ui->shown->until ? "" : "since ", text);
	infoline_elastic(s, 12);
}

static void blanks_drop(char *text)
{
	size_t len = strlen(text);

	while (len > 0 && text[len - 1] == ' ')
		text[--len] = '\0';
}

/* The last fact of a status line matters least. */
static void part_drop(char *text)
{
	char *last = NULL;

	for (char *at = text; (at = strstr(at, "   ")); at++)
		last = at;
	if (last)
		*last = '\0';
	blanks_drop(text);
}

static bool status_fits(const struct ui *ui, const char *text, const char *moments)
{
	return text_cells(text) + text_cells(moments) + strlen(LEAD) + 5 <=
	       (size_t)ui->layout.width;
}

void header_since_status(const struct ui *ui, char *text, size_t cap)
{
	size_t used;
	char moments[MOMENTS_TEXT];

	if (!counts_since(ui))
		return;
	moments_text(ui->shown, true, moments, sizeof(moments));
	if (has_room(ui, moments) || !strchr(moments, '('))
		return;
	blanks_drop(text);
	if (!status_fits(ui, text, moments))
		part_drop(text);
	used = strlen(text);
	if (status_fits(ui, text, moments))
		snprintf(text + used, cap - used, "   %s%s", ui->shown->since->number ? LEAD : "",
			moments);
}
