/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds the heap, in reports (holders.h). */
#include "src/export/holders.h"

#include "src/model/leaks.h"
#include "src/util/units.h"

#define LEAST_PART  1000u /* of the heap, in JSON */
#define TEXT_ROOTS  5u /* in a text report: those that hold a hundredth or more */
#define TEXT_PART   100u
#define TEXT_CYCLES 5u /* kinds of cycles */

static void sum_json(struct writer *w, const char *name, struct snap_leak_sum sum)
{
	writer_object(w, name);
	writer_uint(w, "blocks", sum.blocks);
	writer_uint(w, "bytes", sum.bytes);
	writer_end(w);
}

void holders_json_retained(struct writer *w, struct snap_leak_sum retained)
{
	if (retained.blocks)
		sum_json(w, "retained", retained);
	else
		writer_null(w, "retained");
}

static void holder_json(struct writer *w, const struct snap_holder *h)
{
	writer_object(w, NULL);
	writer_uint(w, "depth", h->depth);
	writer_string(w, "root", h->root);
	if (h->root)
		writer_null(w, "site");
	else
		writer_uint(w, "site", h->site);
	sum_json(w, "own", h->own);
	sum_json(w, "retained", h->all);
	writer_end(w);
}

void holders_json(struct writer *w, const struct snap_leaks *l)
{
	if (!l->held.blocks) {
		writer_null(w, "held");
		return;
	}
	writer_object(w, "held");
	writer_uint(w, "blocks", l->held.blocks);
	writer_uint(w, "bytes", l->held.bytes);
	writer_array(w, "by");
	writer_lines(w);
	for (size_t i = 0; i < l->nholders; i++)
		if (l->holders[i].all.bytes >= l->held.bytes / LEAST_PART)
			holder_json(w, &l->holders[i]);
	writer_end(w);
	writer_end(w);
}

static void cycle_json(struct writer *w, const struct snap_cycle *c)
{
	writer_object(w, NULL);
	writer_uint(w, "times", c->times);
	writer_uint(w, "blocks", c->sum.blocks);
	writer_uint(w, "bytes", c->sum.bytes);
	sum_json(w, "retained", c->retained);
	writer_array(w, "cycle_sites");
	for (uint32_t i = 0; i < c->sites && i < SNAP_CYCLE_SITES; i++)
		writer_uint(w, NULL, c->site[i]);
	writer_end(w);
	writer_end(w);
}

void holders_json_types(struct writer *w, const struct snap_leaks *l)
{
	if (l->held.blocks)
		sum_json(w, "typed", l->typed);
	else
		writer_null(w, "typed");
	writer_array(w, "cycles");
	writer_lines(w);
	for (size_t i = 0; i < l->ncycles; i++)
		cycle_json(w, &l->cycles[i]);
	writer_end(w);
}

void holders_json_site(struct writer *w, const struct snapshot *s, const struct snap_site *site)
{
	if (s->typed.known) {
		writer_string(w, "type", site->type.name);
		writer_uint(w, "type_blocks", site->type.blocks);
		writer_uint(w, "scanned_blocks", site->type.of);
	}
	if (s->has_retained)
		writer_uint(w, "retained_bytes", site->retained_bytes);
}

void holders_text(struct strbuf *out, const struct snap_leaks *l)
{
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8];
	unsigned n = 0;

	for (size_t i = 0; i < l->nholders && n < TEXT_ROOTS; i++) {
		const struct snap_holder *h = &l->holders[i];

		if (h->depth > 0 || h->all.bytes < l->held.bytes / TEXT_PART)
			continue;
		strbuf_printf(out, "%-10s%s byte%s in %s block%s by %s\n", n++ ? "" : "held",
			units_exact(bytes, h->all.bytes), units_plural(h->all.bytes),
			units_exact(blocks, h->all.blocks), units_plural(h->all.blocks), h->root);
	}
	if (l->typed.blocks)
		strbuf_printf(out, "typed     %s%% of bytes, by the vtables of C++ classes\n",
			units_percent(bytes, l->typed.bytes, l->held.bytes));
	if (l->no_holders)
		strbuf_printf(out, "held      unknown: %s\n", l->no_holders);
}

void holders_text_cycles(struct strbuf *out, const struct snapshot *s, const struct snap_leaks *l)
{
	char text[LEAKS_CYCLE_MAX];

	for (size_t i = 0; i < l->ncycles && i < TEXT_CYCLES; i++)
		strbuf_printf(out, "%-10s%s\n", i ? "" : "cycles",
			leaks_cycle_text(l, &l->cycles[i], s, text));
}
