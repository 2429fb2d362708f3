/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name and the place of a frame, spelled the same in table, stack view and report. Pure; main
 * thread, because names in stacks are filled in there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/model/columns.h"
#include "src/util/name_shorten.h"
#include "src/util/text.h"

#define FRAME_TEXT_MAX 4096 /* longer names are cut; C++ symbols are rarely longer */

/* A width of 0 means that only the buffer limits the text. */
static size_t frame_limit(unsigned cells)
{
	return cells ? cells : FRAME_TEXT_MAX;
}

static const char *frame_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *const name_styles[NAMES_COUNT] = { "short", "full", "mangled", "address" };

/* "libfoo.so.3+0x4f1c0", or the bare address of code outside any object; "??" before it means that
 * the name is unknown. */
static void frame_address(const struct frame *f, char *buf, size_t cap)
{
	const char *unnamed = f->function ? "" : "?? ";

	if (f->module->name[0])
		snprintf(buf, cap, "%s%s+0x%" PRIx64, unnamed, f->module->name, f->offset);
	else
		snprintf(buf, cap, "%s0x%" PRIx64, unnamed, f->pc);
}

void frame_name(const struct frame *f, enum name_style style, unsigned cells, bool ascii, char *out,
	size_t cap)
{
	const char *name = style == NAMES_MANGLED && f->mangled ? f->mangled : f->function;
	bool addressed = !f->function || style == NAMES_ADDRESS;
	char text[FRAME_TEXT_MAX];

	if (cap == 0)
		return;
	out[0] = '\0';
	if (!addressed && style == NAMES_SHORT) {
		name_shorten(out, cap, name, frame_limit(cells), true, ascii);
		return;
	}
	if (addressed)
		frame_address(f, text, sizeof(text));
	text_elide(out, cap, addressed ? text : name, frame_limit(cells), false, ascii);
}

void frame_place(const struct frame *f, unsigned cells, bool ascii, char *out, size_t cap)
{
	char text[FRAME_TEXT_MAX];

	if (!f->file || !f->file[0])
		snprintf(text, sizeof(text), "%s", f->module->name);
	else if (f->line)
		snprintf(text, sizeof(text), "%s:%" PRIu32, frame_basename(f->file), f->line);
	else
		snprintf(text, sizeof(text), "%s", frame_basename(f->file));
	/* Keep the end, which matters most: the line, a library's version. */
	text_elide(out, cap, text, frame_limit(cells), true, ascii);
}
