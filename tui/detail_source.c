/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chosen frame of the site detail (detail_source.h). The data source keeps the text of source
 * files, so drawing opens no file. Main thread.
 */
#include "tui/detail_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/source_text.h"
#include "src/util/text.h"
#include "tui/clipboard.h"
#include "tui/draw.h"

#define NUMBER_CELLS 9 /* "  1234 > " before a line */

/* ---- which frame -------------------------------------------------------------------------- */

/*
 * Frames are named while the stack is shown, and inlined frames are added then. So a frame is
 * identified by its return address, by the number of inner frames with the same address
 * (recursion), and by its position among the frames inlined there.
 */
static struct detail_frame frame_key(const struct stack *st, uint32_t frame)
{
	uint32_t real = frame;
	struct detail_frame key = { .chosen = true };

	while (real + 1 < st->nframes && !snapshot_frame(st, real)->pc)
		real++;
	key.pc = snapshot_frame(st, real)->pc;
	key.above = real - frame;
	for (uint32_t i = 0; i < real; i++)
		key.nth += snapshot_frame(st, i)->pc == key.pc;
	return key;
}

uint32_t detail_source_frame(const struct ui *ui, const struct snap_site *site)
{
	const struct detail_frame *key = &ui->detail.frame;
	const struct stack *st = site->stack;
	uint32_t nth = 0;

	for (uint32_t i = 0; key->chosen && i < st->nframes; i++) {
		uint32_t above = 0;

		if (snapshot_frame(st, i)->pc != key->pc || nth++ != key->nth)
			continue;
		while (above < key->above && above < i && !snapshot_frame(st, i - above - 1)->pc)
			above++;
		return i - above;
	}
	return st->title;
}

void detail_source_choose_frame(struct ui *ui, const struct snap_site *site, uint32_t frame)
{
	if (frame < site->stack->nframes)
		ui->detail.frame = frame_key(site->stack, frame);
}

/* ---- its source --------------------------------------------------------------------------- */

static const struct source_text *source_of(const struct ui *ui, const struct frame *f)
{
	return f->file && f->line && ui->source->source_text
		       ? ui->source->source_text(ui->source->ctx, f)
		       : NULL;
}

/* Why no source is shown, and what the user can do about it. */
static void why_none(const struct ui *ui, const struct stack *st, const struct frame *f,
	const struct source_text *t, char *out, size_t cap)
{
	if (t && t->note)
		snprintf(out, cap, "%s", t->note);
	else if (!ui->source->source_text)
		snprintf(out, cap, "no source is available here");
	else if (f->file && f->line)
		snprintf(out, cap, "looking for %s", f->file);
	else if (!st->resolved && !f->function)
		snprintf(out, cap, "resolving names");
	else if (!f->module->path[0])
		snprintf(out, cap, "code generated at run time has no source");
	else
		snprintf(out, cap,
			"unknown line: %s has no debug information for this code (build it with "
			"-g, install its debug package, or use --debuginfod)",
			f->module->name);
}

/* Wraps the text at blanks. */
static void note_draw(const char *note, int y, unsigned cells, unsigned lines)
{
	for (unsigned i = 0; i < lines && *note; i++) {
		size_t len = text_fit(note, cells - 4, NULL), cut = len;
		char line[1024];

		if (note[len]) {
			while (cut > 0 && note[cut] != ' ')
				cut--;
			len = cut > 0 ? cut : len;
		}
		snprintf(line, sizeof(line), "%.*s", (int)len, note);
		draw_text(y + (int)i, 2, cells - 3, STYLE_DIM, line);
		note += len;
		note += *note == ' ';
	}
}

static void lines_draw(const struct ui *ui, const struct source_text *t, uint32_t at, int y,
	unsigned cells, unsigned lines)
{
	/* A third of the lines is above the chosen one, except near the ends of the file. */
	uint32_t first = at > lines / 3 ? at - lines / 3 : 1;
	char text[COLUMN_TEXT_MAX * 2];

	if (t->lines < lines)
		first = 1;
	else if (first + lines - 1 > t->lines)
		first = t->lines - lines + 1;
	for (uint32_t i = 0; i < lines && first + i <= t->lines; i++) {
		bool here = first + i == at;
		const char *line = source_text_line(t, first + i);

		snprintf(text, sizeof(text), "%6" PRIu32 " %s", first + i,
			here ? draw_glyph(GLYPH_HERE) : " ");
		draw_text(y + (int)i, 0, NUMBER_CELLS, here ? STYLE_BOLD : STYLE_DIM, text);
		text_elide(text, sizeof(text), line + text_fit(line, ui->detail.shift, NULL),
			cells - NUMBER_CELLS - 1, false, draw_is_ascii());
		draw_text(y + (int)i, NUMBER_CELLS, cells - NUMBER_CELLS,
			here ? STYLE_BOLD : STYLE_PLAIN, text);
	}
}

static void rule_draw(const struct frame *f, const struct source_text *t, int y, unsigned cells)
{
	const char *newer = t && t->newer ? ", source newer than the object file" : "";
	char title[COLUMN_TEXT_MAX * 2], path[COLUMN_TEXT_MAX];
	unsigned room = cells > 24 ? cells - 24 : 1;

	room = room > strlen(newer) ? room - (unsigned)strlen(newer) : 1;
	text_elide(path, sizeof(path),
		t && t->path ? t->path
		: f->file    ? f->file
			     : "",
		room, true, draw_is_ascii());
	if (f->file && f->line)
		snprintf(title, sizeof(title), "SOURCE %s:%" PRIu32 "%s", path, f->line, newer);
	else
		snprintf(title, sizeof(title), "SOURCE");
	draw_rule(y, 0, cells, title);
}

void detail_source_draw(
	const struct ui *ui, const struct snap_site *site, int y, unsigned cells, unsigned lines)
{
	const struct frame *f = snapshot_frame(site->stack, detail_source_frame(ui, site));
	const struct source_text *t = source_of(ui, f);
	char note[UI_MESSAGE_MAX];

	rule_draw(f, t, y, cells);
	if (!t || t->note) {
		why_none(ui, site->stack, f, t, note, sizeof(note));
		note_draw(note, y + 1, cells, lines - 1);
	} else if (f->line > t->lines) {
		snprintf(note, sizeof(note),
			"this file has %" PRIu32 " lines: it is not the file that was compiled",
			t->lines);
		note_draw(note, y + 1, cells, lines - 1);
	} else {
		lines_draw(ui, t, f->line, y + 1, cells, lines - 1);
	}
}

/* ---- keys --------------------------------------------------------------------------------- */

void detail_source_edit(struct ui *ui)
{
	const struct snap_site *site = ui_site(ui, ui->detail.site);

	if (site)
		detail_source_edit_frame(ui, site->stack,
			snapshot_frame(site->stack, detail_source_frame(ui, site)));
}

void detail_source_edit_frame(struct ui *ui, const struct stack *stack, const struct frame *f)
{
	const struct source_text *t = source_of(ui, f);
	char why[UI_MESSAGE_MAX];

	if (!t || t->note) {
		why_none(ui, stack, f, t, why, sizeof(why));
		ui_message(ui, "%s", why);
	} else if (!ui->has_terminal) {
		ui_message(ui, "no terminal for an editor");
	} else if (!ui->editor) {
		ui_message(ui, "no editor: set VISUAL or EDITOR");
	} else {
		snprintf(ui->edit_path, sizeof(ui->edit_path), "%s", t->path);
		ui->edit_line = f->line;
	}
}

void detail_source_copy(struct ui *ui, int arg, int key)
{
	const struct snap_site *site = ui_site(ui, ui->detail.site);
	const char *why = clipboard_unsupported(getenv("TERM"));
	enum clipboard_target way = clipboard_target(getenv("TERM"), getenv("TMUX"));
	struct clipboard_result r;

	if (!site)
		return;
	if (!ui->has_terminal)
		why = "no terminal to copy to";
	if (why) {
		ui_message(ui, "not copied: %s", why);
		return;
	}
	strbuf_reset(&ui->clipboard);
	r = clipboard_encode(&ui->clipboard, site, way);
	if (ui->clipboard.failed) {
		ui_message(ui, "not copied: out of memory");
		return;
	}
	ui_message(ui,
		"%s%" PRIu32 " frames of site %" PRIu32
		", %zu bytes of text, sent to the terminal's "
		"clipboard (OSC 52%s)",
		r.frames < site->stack->nframes ? "the first " : "", r.frames, site->id, r.bytes,
		way == CLIPBOARD_TMUX ? "; tmux: set-clipboard or allow-passthrough must be on"
				      : "");
}
