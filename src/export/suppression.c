/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rule that takes one leak out of later reports, in the form that valgrind reads, too: names as
 * the linker has them, the allocating function first. Source: valgrind's manual, 2.5.
 */
#include <string.h>
#include "src/export/text.h"

/* As many as valgrind's --num-callers: enough to tell call sites apart. */
#define FRAMES_MAX 12u

static void frame_text(struct strbuf *out, const struct frame *f)
{
	if (f->mangled)
		strbuf_printf(out, "   fun:%s\n", f->mangled);
	else if (f->module->path && f->module->path[0])
		strbuf_printf(out, "   obj:%s\n", f->module->path);
	else
		strbuf_puts(out, "   obj:*\n");
}

/* Below main valgrind shows nothing; below a thread's first function it has frames of its own. */
static bool is_last(const struct frame *f)
{
	return f->mangled && (!strcmp(f->mangled, "main") || !strcmp(f->mangled, "start_thread"));
}

void suppression_text(struct strbuf *out, const struct snap_site *site, enum snap_leak_class class)
{
	const struct stack *stack = site->stack;
	uint32_t count = stack->nframes < FRAMES_MAX ? stack->nframes : FRAMES_MAX;

	strbuf_printf(out, "{\n   <a name for it>\n   Memcheck:Leak\n   match-leak-kinds: %s\n",
		snapshot_leak_word(class));
	strbuf_printf(out, "   fun:%s\n", snapshot_alloc_symbol(site->alloc_function));
	for (uint32_t i = 0; i < count; i++) {
		frame_text(out, &stack->frames[i]);
		if (is_last(&stack->frames[i]))
			break;
	}
	strbuf_puts(out, "}\n");
}
