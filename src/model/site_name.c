/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name and the place of a call site: those of its title frame, or of its innermost frame if
 * allocators are shown, too. Pure; main thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/model/columns.h"
#include "src/model/groups.h"
#include "src/model/site_type.h"
#include "src/util/text.h"

static const struct frame *site_frame(const struct snap_site *site, const struct row_style *style)
{
	const struct stack *stack = site->stack;
	uint32_t i = style->show_hidden || stack->title >= stack->nframes ? 0 : stack->title;

	return snapshot_frame(stack, i);
}

/* A path, cut at its beginning: the file name matters more than the directory. */
static void path_name(const char *path, const struct row_style *style, char *out, size_t cap)
{
	text_elide(out, cap, path, style->site_cells ? style->site_cells : cap, true,
		style->glyphs == GLYPHS_ASCII);
}

static void module_name(const struct frame *f, const struct row_style *style, char *out, size_t cap)
{
	path_name(f->module->path[0] ? f->module->path : "(code outside any object file)", style,
		out, cap);
}

static bool is_address_of_many(const struct snap_site *site, const struct row_style *style)
{
	return style->names == NAMES_ADDRESS && site->group && site->group->by == GROUP_FUNCTION;
}

#define NAME_LEAST 8 /* cells of a name before what tells it apart, */
#define TWIN_LEAST 11 /* and of that, where the name would have more than half */

/* What tells a row apart, in at most `cells`: its sign, "‹" or "←", and as much of the end as fits,
 * since the argument of a template and the line of a caller are there. */
static void twin_elide(char *out, size_t cap, const char *twin, unsigned cells, bool ascii)
{
	size_t sign = strcspn(twin, " "), end = text_fit(twin, 1, NULL);

	if (twin[sign] && sign <= strlen("←"))
		end = sign; /* "<-", too; the blank after it goes first */
	if (text_cells(twin) <= cells || cells < 4 || end >= cap) {
		text_elide(out, cap, twin, cells, true, ascii);
		return;
	}
	memcpy(out, twin, end);
	text_elide(out + end, cap - end, twin + end + strspn(twin + end, " "),
		cells - (unsigned)(ascii ? end : 1), true, ascii);
}

/* Cells that what tells a row apart needs: a template's name may be cut, its arguments hardly, as
 * in "‹…<Conn>›". */
static unsigned twin_least(const char *twin)
{
	const char *end = twin + strlen(twin), *at;
	unsigned depth = 0;

	while (end > twin && end[-1] != '>')
		end--;
	at = end;
	do {
		if (at == twin)
			return TWIN_LEAST;
		at--;
		depth += *at == '>';
		depth -= *at == '<';
	} while (depth > 0);
	return (unsigned)text_cells(at) + 2;
}

/* Without "(…)", which says least. True: it had that. */
static bool arguments_drop(char *name, bool ascii)
{
	const char *arguments = ascii ? "(...)" : "(…)";
	size_t len = strlen(name), cut = strlen(arguments);

	if (len <= cut || strcmp(name + len - cut, arguments) != 0)
		return false;
	name[len - cut] = '\0';
	return true;
}

/* The frame's name in `cells` cells, beside what tells it apart in `twin` cells. */
static void twin_title(
	const struct frame *f, const struct row_style *style, unsigned twin, char *out, size_t cap)
{
	bool ascii = style->glyphs == GLYPHS_ASCII, dropped;
	unsigned cells = style->site_cells, name, least, most;

	frame_name(f, style->names, 0, ascii, out, cap);
	if (!cells || text_cells(out) + twin <= cells)
		return;
	dropped = arguments_drop(out, ascii);
	name = (unsigned)text_cells(out);
	if (name + twin <= cells)
		return;
	least = twin_least(style->twin);
	most = cells > least + 1 + cells / 2 ? cells - least - 1 : cells / 2;
	name = cells > twin + most ? cells - twin : name < most ? name : most;
	name = name < NAME_LEAST ? NAME_LEAST : name;
	frame_name(f, style->names, name + (dropped ? ascii ? 5 : 3 : 0), ascii, out, cap);
	arguments_drop(out, ascii);
}

/* The name, shortened for what tells it from rows of the same name. */
static void twin_name(
	const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	unsigned cells = style->site_cells, name;
	bool ascii = style->glyphs == GLYPHS_ASCII;
	char text[COLUMN_TEXT_MAX];
	size_t used;

	twin_title(site_frame(site, style), style, (unsigned)text_cells(style->twin) + 1, text,
		sizeof(text) / 2);
	used = strlen(text);
	text[used + 1] = '\0';
	text[used++] = ' ';
	name = (unsigned)text_cells(text);
	twin_elide(text + used, sizeof(text) - used, style->twin,
		cells > name ? cells - name : (unsigned)cap, ascii);
	text_elide(out, cap, text, cells ? cells : cap, false, ascii);
}

/* An ancestor's name is that of a caller. */
static void stack_name(
	const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	static const char deeper[] = "deeper than ";
	const unsigned prefix = sizeof(deeper) - 1;
	unsigned cells = style->site_cells;
	bool ascii = style->glyphs == GLYPHS_ASCII;
	char text[COLUMN_TEXT_MAX];

	if (style->twin && !site->stack->ancestor) {
		twin_name(site, style, out, cap);
		return;
	}
	if (!site->stack->ancestor || snapshot_frame(site->stack, 0)->module->path[0] == '\0') {
		frame_name(site_frame(site, style), style->names, cells, ascii, out, cap);
		return;
	}
	memcpy(text, deeper, sizeof(deeper));
	frame_name(site_frame(site, style), style->names, cells > prefix ? cells - prefix : cells,
		ascii, text + prefix, sizeof(text) - prefix);
	text_elide(out, cap, text, cells ? cells : cap, false, ascii);
}

static void type_name(
	const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	bool ascii = style->glyphs == GLYPHS_ASCII;
	char text[SITE_TYPE_MAX];

	if (site->type.name)
		snprintf(out, cap, "%s",
			site_type_text(&site->type, style->site_cells, ascii, text));
	else
		text_elide(out, cap, "(no type known)", style->site_cells ? style->site_cells : cap,
			false, ascii);
}

void site_name(const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	const struct frame *f = site_frame(site, style);
	char text[COLUMN_TEXT_MAX];

	switch (site->group ? site->group->by : GROUP_STACK) {
	case GROUP_THREAD:
		snapshot_thread_name(site->group->thread, text, sizeof(text));
		text_elide(out, cap, text, style->site_cells ? style->site_cells : cap, false,
			style->glyphs == GLYPHS_ASCII);
		break;
	case GROUP_FILE:
		snprintf(text, sizeof(text), "?? in %s",
			f->module->path[0] ? f->module->path : "code outside any object file");
		path_name(f->file ? f->file : text, style, out, cap);
		break;
	case GROUP_MODULE:
		module_name(f, style, out, cap);
		break;
	case GROUP_TYPE:
		type_name(site, style, out, cap);
		break;
	case GROUP_STACK:
		stack_name(site, style, out, cap);
		break;
	default:
		/* A function with several sites has no single address. */
		frame_name(f, is_address_of_many(site, style) ? NAMES_FULL : style->names,
			style->site_cells, style->glyphs == GLYPHS_ASCII, out, cap);
	}
}

void site_place(const struct snap_site *site, const struct row_style *style, char *out, size_t cap)
{
	struct frame f = *site_frame(site, style);
	bool ascii = style->glyphs == GLYPHS_ASCII;

	switch (site->group ? site->group->by : GROUP_STACK) {
	case GROUP_THREAD:
		out[0] = '\0';
		if (site->group->thread && site->group->thread->tid)
			snprintf(out, cap, "%" PRIu32, site->group->thread->tid);
		return;
	case GROUP_TYPE: /* its sites are in several places */
		if (site->group->sites > 1) {
			out[0] = '\0';
			return;
		}
		break;
	case GROUP_MODULE:
		text_elide(out, cap, f.module->build_id,
			style->line_cells ? style->line_cells : cap, false, ascii);
		return;
	case GROUP_FILE: /* the file is the name; show the module */
		f.file = NULL;
		break;
	case GROUP_FUNCTION:
		f.line = 0; /* it has several lines */
		break;
	default:
		break;
	}
	frame_place(&f, style->line_cells, ascii, out, cap);
}
