/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppressions that omit a leak from later reports, in the format that valgrind reads, too: linker
 * names, the allocating function first. Source: valgrind's manual, 2.5.
 */
#include <string.h>
#include "src/export/text.h"

/* Writes file and line, without directory, as valgrind does. A colon would end the name, and * and
 * ? are wildcards. */
static bool source_text(struct strbuf *out, const struct frame *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;
	const char *name = slash ? slash + 1 : f->file;

	if (!name || !*name || !f->line || strpbrk(name, ":*?"))
		return false;
	strbuf_printf(out, "   src:%s:%u\n", name, (unsigned)f->line);
	return true;
}

static void frame_text(struct strbuf *out, const struct frame *f, bool lines)
{
	if (lines && source_text(out, f))
		return;
	if (f->mangled)
		strbuf_printf(out, "   fun:%s\n", f->mangled);
	else if (f->module->path && f->module->path[0])
		strbuf_printf(
			out, "   obj:%s\n", f->module->file ? f->module->file : f->module->path);
	else
		strbuf_puts(out, "   obj:*\n");
}

/* valgrind shows nothing below main, and frames of its own below a thread's first function. */
static bool is_last(const struct frame *f)
{
	return f->mangled && (!strcmp(f->mangled, "main") || !strcmp(f->mangled, "start_thread"));
}

void suppression_text(
	struct strbuf *out, const struct snap_site *site, const struct suppression *how)
{
	const struct stack *stack = site->stack;
	uint32_t count = stack->nframes < how->frames ? stack->nframes : how->frames;

	strbuf_printf(out, "{\n   %s\n   Memcheck:Leak\n   match-leak-kinds: %s\n", how->name,
		how->kinds);
	if (stack->ancestor)
		strbuf_puts(out, "   ...\n");
	else
		strbuf_printf(out, "   fun:%s\n", snapshot_alloc_symbol(site->alloc_function));
	for (uint32_t i = 0; i < count; i++) {
		frame_text(out, snapshot_frame(stack, i), how->lines);
		if (is_last(snapshot_frame(stack, i)))
			break;
	}
	strbuf_puts(out, "}\n");
}
