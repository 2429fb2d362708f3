/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call stacks in JSON documents (json_stack.h). */
#include "src/export/json_stack.h"

/* An inlined frame has no address of its own; use that of the function it was inlined into. */
static const struct frame *json_physical(const struct stack *stack, uint32_t i)
{
	uint32_t at = i;

	while (at + 1 < stack->nframes && snapshot_frame(stack, at)->inlined &&
		!snapshot_frame(stack, at)->pc)
		at++;
	return snapshot_frame(stack, at);
}

void json_stack(struct writer *w, const char *key, const struct stack *stack)
{
	writer_array(w, key);
	for (uint32_t i = 0; i < stack->nframes; i++) {
		const struct frame *f = snapshot_frame(stack, i), *real = json_physical(stack, i);

		writer_object(w, NULL);
		writer_hex(w, "pc", real->pc);
		writer_string(w, "module", f->module->path);
		writer_hex(w, "offset", real->offset);
		writer_string(w, "build_id", f->module->build_id);
		writer_string(w, "function", f->function);
		writer_string(w, "file", f->file);
		if (f->line)
			writer_uint(w, "line", f->line);
		else
			writer_null(w, "line");
		writer_bool(w, "inlined", f->inlined);
		writer_bool(w, "hidden", f->hidden);
		writer_end(w);
	}
	writer_end(w);
}
