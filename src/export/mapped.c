/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory mapped from the kernel, and pools, in reports (mapped.h). */
#include "src/export/mapped.h"

#include <inttypes.h>
#include <stdlib.h>

#include "src/export/site_title.h"
#include "src/model/twins.h"
#include "src/util/units.h"

struct snapshot *mapped_as_sites(const struct snapshot *s)
{
	struct snapshot *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	*m = *s;
	m->sites = s->mapped;
	m->nsites = s->nmapped;
	return m;
}

static bool is_known(const struct snapshot *s)
{
	return s->totals.has_mapped && s->totals.maps > 0;
}

static void losses(struct strbuf *out, const struct snap_totals *t)
{
	char count[UNITS_MAX + 8], bytes[UNITS_MAX];

	if (t->untracked_maps)
		strbuf_printf(out, "loss      %s mapping%s of %s could not be recorded\n",
			units_exact(count, t->untracked_maps), units_plural(t->untracked_maps),
			units_bytes(bytes, t->untracked_map_bytes));
	if (t->untracked_unmap_bytes + t->missed_unmap_bytes)
		strbuf_printf(out, "loss      the unmapping of %s was not recorded%s\n",
			units_bytes(bytes, t->untracked_unmap_bytes + t->missed_unmap_bytes),
			t->untracked_unmap_bytes ? "" : " until the address was reused");
	if (t->pool_untracked)
		strbuf_printf(out,
			"loss      %s report%s of blocks of pools, %s, could not be recorded\n",
			units_exact(count, t->pool_untracked), units_plural(t->pool_untracked),
			units_bytes(bytes, t->pool_untracked_bytes));
}

static void pools(struct strbuf *out, const struct snap_totals *t)
{
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8], peak[UNITS_MAX];

	if (t->pool_peak_bytes)
		strbuf_printf(out, "pools     %s byte%s in %s block%s (peak %s)\n",
			units_exact(bytes, t->pool_bytes), units_plural(t->pool_bytes),
			units_exact(blocks, t->pool_blocks), units_plural(t->pool_blocks),
			units_bytes(peak, t->pool_peak_bytes));
}

void mapped_text(struct strbuf *out, const struct snapshot *s)
{
	const struct snap_totals *t = &s->totals;
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8], peak[UNITS_MAX];
	char maps[UNITS_MAX + 8], unmaps[UNITS_MAX + 8];

	if (!t->has_mapped)
		return;
	if (is_known(s))
		strbuf_printf(out,
			"mapped    %s byte%s in %s mapping%s (peak %s); %s mapped, %s unmapped\n",
			units_exact(bytes, t->mapped_bytes), units_plural(t->mapped_bytes),
			units_exact(blocks, t->mapped_blocks), units_plural(t->mapped_blocks),
			units_bytes(peak, t->mapped_peak_bytes), units_exact(maps, t->maps),
			units_exact(unmaps, t->unmaps));
	pools(out, t);
	losses(out, t);
}

static void row(struct strbuf *out, const struct snap_site *site, const struct row_style *style)
{
	char bytes[UNITS_MAX], peak[UNITS_MAX], blocks[UNITS_MAX], maps[UNITS_MAX];

	strbuf_printf(out, "  %7s  %6s  %7s  %6s  %-4s  ", units_bytes(bytes, site->live_bytes),
		units_count(blocks, site->live_blocks), units_bytes(peak, site->peak_live_bytes),
		units_count(maps, site->allocs), snapshot_kind_word(site->kind));
	site_title(out, site, style);
}

/* Those of pools, or all others, in this order. */
static void rows(struct strbuf *out, const struct snapshot *m, const uint32_t *order, bool pools,
	const struct export_options *o)
{
	struct row_style style = site_title_style(o);
	struct twins *twins = malloc(sizeof(*twins));
	char twin[TWINS_TEXT];
	size_t shown = 0;

	for (size_t i = 0; twins && i < m->nsites && (o->top == 0 || shown < o->top); i++) {
		const struct snap_site *site = &m->sites[order[i]];

		style.twin = twins_row(twins, m, order, i, m->nsites, &style, twin);
		if ((site->kind == SNAP_POOL) != pools)
			continue;
		if (shown++ == 0)
			strbuf_printf(out,
				"\n%s, by live bytes\n"
				"     live  blocks     peak  %6s  kind  call site\n",
				pools ? "pools" : "mappings", pools ? "allocs" : "maps");
		row(out, site, &style);
	}
	out->failed |= !twins;
	free(twins);
}

void mapped_text_sites(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct snapshot *m;
	uint32_t *order;

	if (!s->totals.has_mapped || s->nmapped == 0)
		return;
	m = mapped_as_sites(s);
	order = m ? malloc(m->nsites * sizeof(*order)) : NULL;
	if (order) {
		sites_sort(m, COL_LIVE, false, order);
		rows(out, m, order, false, o);
		rows(out, m, order, true, o);
	} else {
		out->failed = true;
	}
	free(order);
	free(m);
}

void mapped_json_totals(struct writer *w, const struct snap_totals *t)
{
	const struct {
		const char *key;
		uint64_t value;
	} field[] = {
		{ "mapped_bytes", t->mapped_bytes },
		{ "mapped_blocks", t->mapped_blocks },
		{ "mapped_peak_bytes", t->mapped_peak_bytes },
		{ "mapped_peak_ns", t->mapped_peak_ns },
		{ "maps", t->maps },
		{ "unmaps", t->unmaps },
		{ "map_bytes", t->map_bytes },
		{ "unmap_bytes", t->unmap_bytes },
		{ "allocator_mapped_bytes", t->allocator_mapped_bytes },
		{ "unknown_unmap_bytes", t->unknown_unmap_bytes },
		{ "missed_unmap_bytes", t->missed_unmap_bytes },
		{ "untracked_maps", t->untracked_maps },
		{ "untracked_map_bytes", t->untracked_map_bytes },
		{ "untracked_unmap_bytes", t->untracked_unmap_bytes },
		{ "pool_bytes", t->pool_bytes },
		{ "pool_blocks", t->pool_blocks },
		{ "pool_peak_bytes", t->pool_peak_bytes },
		{ "pool_untracked", t->pool_untracked },
		{ "pool_untracked_bytes", t->pool_untracked_bytes },
	};

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		if (t->has_mapped)
			writer_uint(w, field[i].key, field[i].value);
		else
			writer_null(w, field[i].key);
	}
}
