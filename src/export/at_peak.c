/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was live at the peak, as text (at_peak.h). */
#include "src/export/at_peak.h"

#include <stdlib.h>

#include "src/export/site_title.h"
#include "src/model/twins.h"
#include "src/util/units.h"

static void row(struct strbuf *out, const struct snapshot *s, const struct snap_site *site,
	size_t rank, const struct row_style *style)
{
	char bytes[COLUMN_TEXT_MAX], share[COLUMN_TEXT_MAX], blocks[UNITS_MAX];

	column_text(COL_AT_PEAK, s, site, style, bytes);
	column_text(COL_AT_PEAK_SHARE, s, site, style, share);
	strbuf_printf(out, "%3zu. %7s  %5s%%  %6s  ", rank, bytes, share,
		units_count(blocks, site->at_peak_blocks));
	site_title(out, site, style);
}

/* The total is less than the peak where several threads made it (heaptop-metrics(7)). */
static void title(struct strbuf *out, const struct snap_totals *t)
{
	char when[UNITS_MAX], bytes[UNITS_MAX], peak[UNITS_MAX];

	strbuf_printf(out, "\nat the peak, %s", units_duration(when, t->peak_ns));
	if (t->at_peak_bytes != t->peak_live_bytes)
		strbuf_printf(out, ": the composition of %s; the peak was %s",
			units_bytes(bytes, t->at_peak_bytes),
			units_bytes(peak, t->peak_live_bytes));
	strbuf_puts(out, "\n       bytes   share  blocks  call site\n");
}

static void rows(struct strbuf *out, const struct snapshot *s, const uint32_t *order, size_t shown,
	const struct export_options *o)
{
	struct row_style style = site_title_style(o);
	struct twins *twins = malloc(sizeof(*twins));
	char twin[TWINS_TEXT];

	for (size_t i = 0; twins && i < shown; i++) {
		style.twin = twins_row(twins, s, order, i, shown, &style, twin);
		row(out, s, &s->sites[order[i]], i + 1, &style);
	}
	out->failed |= !twins;
	free(twins);
}

void at_peak_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	size_t most = o->top && o->top < s->nsites ? o->top : s->nsites, shown = 0;
	uint32_t *order;

	/* By thread the parts of the peak are not known. */
	if (!s->totals.has_at_peak || s->totals.at_peak_bytes == 0 || o->group == GROUP_THREAD)
		return;
	order = malloc((s->nsites ? s->nsites : 1) * sizeof(*order));
	if (!order) {
		out->failed = true;
		return;
	}
	sites_sort(s, COL_AT_PEAK, false, order);
	title(out, &s->totals);
	while (shown < most && s->sites[order[shown]].at_peak_bytes > 0)
		shown++;
	rows(out, s, order, shown, o);
	free(order);
}

void at_peak_text_site(struct strbuf *out, const struct snapshot *s, const struct snap_site *site)
{
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8], share[UNITS_MAX];

	if (!s->totals.has_at_peak || site->of_thread)
		return;
	if (site->at_peak_blocks == 0) {
		strbuf_puts(out, "     at the program's peak nothing\n");
		return;
	}
	strbuf_printf(out, "     at the program's peak %s byte%s in %s block%s (%s%%)\n",
		units_exact(bytes, site->at_peak_bytes), units_plural(site->at_peak_bytes),
		units_exact(blocks, site->at_peak_blocks), units_plural(site->at_peak_blocks),
		units_percent(share, site->at_peak_bytes, s->totals.at_peak_bytes));
}
