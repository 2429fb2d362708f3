/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocators inside the program (allocators.h). */
#include "src/export/allocators.h"

#include <string.h>

#include "src/util/units.h"

void allocators_json(struct writer *w, const struct snapshot *s)
{
	if (s->nallocators == 0)
		return;
	writer_array(w, "allocators");
	writer_lines(w);
	for (size_t i = 0; i < s->nallocators; i++) {
		const struct snap_allocator *a = &s->allocators[i];
		bool refused = a->state == SNAP_ALLOCATOR_REFUSED;

		writer_object(w, NULL);
		writer_string(w, "module", a->module[0] ? a->module : NULL);
		writer_string(w, "function", a->function);
		writer_string(w, "state", allocator_state_word(a->state));
		writer_string(w, "reason", refused ? a->reason : NULL);
		writer_end(w);
	}
	writer_end(w);
}

static bool is_first_of_module(const struct snapshot *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(s->allocators[i].module, s->allocators[at].module) == 0)
			return false;
	return true;
}

/* The functions of one module, from the first on. */
static void module_text(struct strbuf *out, const struct snapshot *s, size_t first)
{
	const char *module = s->allocators[first].module;
	unsigned recorded = 0;

	for (size_t i = first; i < s->nallocators; i++)
		recorded += s->allocators[i].state == SNAP_ALLOCATOR_RECORDED &&
			    strcmp(s->allocators[i].module, module) == 0;
	if (recorded > 0)
		strbuf_printf(out, "  %s: %u function%s recorded\n", module, recorded,
			units_plural(recorded));
	for (size_t i = first; i < s->nallocators; i++) {
		const struct snap_allocator *a = &s->allocators[i];

		if (a->state == SNAP_ALLOCATOR_REFUSED && strcmp(a->module, module) == 0)
			strbuf_printf(out, "  %s: %s not recorded: %s\n",
				module[0] ? module : "HEAPTOP_ALLOCATORS", a->function, a->reason);
	}
}

void allocators_text(struct strbuf *out, const struct snapshot *s)
{
	if (s->nallocators == 0)
		return;
	strbuf_printf(out, "\nAllocators inside the program:\n");
	for (size_t i = 0; i < s->nallocators; i++)
		if (is_first_of_module(s, i))
			module_text(out, s, i);
}
