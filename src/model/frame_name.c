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

#define MODULE_LEAST 4 /* cells of a module's name: fewer say nothing */

/* "libfoo+0x4f1c0", "libf…+0x4f1c0" or "+0x4f1c0", whichever fits: the offset tells frames of one
 * module apart, the beginning of its name tells modules apart. */
static void address_shorten(const struct frame *f, size_t cells, bool ascii, char *out, size_t cap)
{
	const char *version = strstr(f->module->name, ".so");
	char module[FRAME_TEXT_MAX / 2], offset[24];
	size_t bytes = version ? (size_t)(version - f->module->name) : strlen(f->module->name);
	size_t tail = (size_t)snprintf(offset, sizeof(offset), "+0x%" PRIx64, f->offset);

	snprintf(module, sizeof(module), "%.*s", (int)bytes, f->module->name);
	if (tail + MODULE_LEAST > cells || tail + MODULE_LEAST * 4 > cap) {
		text_elide(out, cap, offset, cells, true, ascii);
		return;
	}
	text_elide(out, cap - tail, module, cells - tail, false, ascii);
	strcat(out, offset);
}

/* "libfoo.so.3+0x4f1c0", or the bare address of code outside any object; "??" before it means that
 * the name is unknown. */
static void frame_address(const struct frame *f, unsigned cells, bool ascii, char *out, size_t cap)
{
	const char *unnamed = f->function ? "" : "?? ";
	size_t used = strlen(unnamed), limit = frame_limit(cells);
	char text[FRAME_TEXT_MAX];

	if (f->module->name[0])
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, f->module->name, f->offset);
	else
		snprintf(text, sizeof(text), "0x%" PRIx64, f->pc);
	if (used >= limit || used >= cap) { /* the end, which tells most */
		text_elide(out, cap, text, limit, true, ascii);
		return;
	}
	memcpy(out, unnamed, used);
	if (f->module->name[0] && text_cells(text) > limit - used)
		address_shorten(f, limit - used, ascii, out + used, cap - used);
	else
		text_elide(out + used, cap - used, text, limit - used, true, ascii);
}

void frame_name(const struct frame *f, enum name_style style, unsigned cells, bool ascii, char *out,
	size_t cap)
{
	const char *name = style == NAMES_MANGLED && f->mangled ? f->mangled : f->function;
	bool addressed = !f->function || style == NAMES_ADDRESS;

	if (cap == 0)
		return;
	out[0] = '\0';
	if (addressed)
		frame_address(f, cells, ascii, out, cap);
	else if (style == NAMES_SHORT)
		name_shorten(out, cap, name, frame_limit(cells), true, ascii);
	else
		text_elide(out, cap, name, frame_limit(cells), false, ascii);
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
