/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diff as folded stacks with two columns (export_diff.h). Main thread. */
#include <inttypes.h>
#include "src/export/export_diff.h"

/* A semicolon separates frames, so that names cannot have one. */
static void name_put(struct strbuf *out, const char *name)
{
	for (; *name; name++)
		strbuf_putc(out, *name == ';' ? ':' : *name);
}

static void stack_put(
	struct strbuf *out, const struct snap_site *site, const struct export_options *o)
{
	char name[COLUMN_TEXT_MAX];

	for (uint32_t i = site->stack->nframes; i-- > 0;) {
		frame_name(
			snapshot_frame(site->stack, i), o->names, 0, o->ascii, name, sizeof(name));
		name_put(out, name);
		strbuf_putc(out, ';');
	}
	name_put(out, site->alloc_function);
}

void export_diff_folded(
	struct strbuf *out, const struct export_diff *x, const struct export_options *o)
{
	const struct diff *d = x->diff;

	for (size_t i = 0; i < d->nrows; i++) {
		const struct diff_row *r = &d->rows[i];
		const struct diff_change *c = &r->change[d->value];

		if (c->a == 0 && c->b == 0)
			continue;
		stack_put(out, r->b ? r->b : r->a, o);
		strbuf_printf(out, " %" PRIu64 " %" PRIu64 "\n", c->a, c->b);
	}
}
