/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wrong frees in reports (wrong_frees.h). Called by text.c and json.c, on the main thread. */
#include "src/export/wrong_frees.h"

#include "src/export/json_stack.h"
#include "src/export/text.h"
#include "src/model/wrong_frees.h"
#include "src/util/units.h"

static void stack_text(struct strbuf *out, const char *function, const struct stack *stack,
	const struct export_options *o)
{
	const struct snap_site site = { .alloc_function = function, .stack = stack };

	if (stack)
		text_stack(out, &site, o);
	else
		strbuf_puts(out, "      (the stack was not recorded)\n");
}

void wrong_frees_text_stacks(
	struct strbuf *out, const struct snap_wrong_free *f, const struct export_options *o)
{
	stack_text(out, f->freed_by, f->stack, o);
	if (f->first_site) {
		strbuf_puts(out, "     the block was freed before\n");
		stack_text(out, f->first_freed_by, f->first_stack, o);
	}
	if (f->alloc_site == 0)
		return;
	strbuf_puts(out, "     the block was allocated\n");
	stack_text(out, f->allocated_by, f->alloc_stack, o);
}

static void row_text(struct strbuf *out, const struct snap_wrong_free *f, size_t rank,
	const struct export_options *o)
{
	char line[WRONG_FREES_LINE_MAX];

	strbuf_printf(out, "\n%3zu. %s\n", rank, wrong_frees_line(f, line));
	wrong_frees_text_stacks(out, f, o);
}

void wrong_frees_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	size_t shown = o->top && o->top < s->nwrong ? o->top : s->nwrong;
	char all[UNITS_MAX + 8];
	uint64_t count = wrong_frees_count(s);

	if (count == 0)
		return;
	strbuf_printf(out, "\n%s wrong free%s", units_exact(all, count), units_plural(count));
	if (shown < s->nwrong)
		strbuf_printf(out, "; %zu of %zu places", shown, s->nwrong);
	if (s->totals.wrong_unlisted)
		strbuf_printf(out, "; %s at places that there was no room for",
			units_exact(all, s->totals.wrong_unlisted));
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < shown; i++)
		row_text(out, &s->wrong[i], i + 1, o);
}

static void id_json(struct writer *w, const char *key, uint32_t site)
{
	if (site)
		writer_uint(w, key, site);
	else
		writer_null(w, key);
}

static void stack_json(struct writer *w, const char *key, const struct stack *stack)
{
	static const struct stack none;

	json_stack(w, key, stack ? stack : &none);
}

static void row_json(struct writer *w, const struct snap_wrong_free *f)
{
	writer_string(w, "kind", snapshot_wrong_word(f->kind));
	writer_uint(w, "count", f->count);
	writer_uint(w, "bytes", f->bytes);
	writer_hex(w, "address", f->addr);
	if (f->kind == SNAP_WRONG_INSIDE)
		writer_uint(w, "offset", f->offset);
	if (f->kind == SNAP_WRONG_SIZED)
		writer_uint(w, "freed_as_bytes", f->want);
	writer_string(w, "freed_by", f->freed_by);
	id_json(w, "site", f->site);
	stack_json(w, "stack", f->stack);
	writer_string(w, "allocated_by", f->allocated_by);
	id_json(w, "alloc_site", f->alloc_site);
	stack_json(w, "alloc_stack", f->alloc_stack);
	if (f->kind != SNAP_WRONG_DOUBLE)
		return;
	writer_string(w, "first_freed_by", f->first_freed_by);
	id_json(w, "first_site", f->first_site);
	stack_json(w, "first_stack", f->first_stack);
}

void wrong_frees_json(struct writer *w, const struct snapshot *s)
{
	if (!s->wrong)
		return;
	writer_array(w, "wrong_frees");
	writer_lines(w);
	for (size_t i = 0; i < s->nwrong; i++) {
		writer_object(w, NULL);
		row_json(w, &s->wrong[i]);
		writer_end(w);
	}
	writer_end(w);
}
