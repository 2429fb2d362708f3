/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resident memory (memory.h): the parts that add up to it, and the sites that pin nearly empty
 * pages. */
#include "src/export/memory.h"

#include "src/export/json_stack.h"
#include "src/export/site_title.h"
#include "src/util/clock.h"
#include "src/util/units.h"

#define TEXT_PINS  5u /* enough for a report */
#define TEXT_SITES 5u

/* Skips empty parts: usually five of nine have content. */
static void memory_parts(struct strbuf *out, const struct map_account *a)
{
	char bytes[UNITS_MAX], share[UNITS_MAX];

	strbuf_printf(out, "rss       %s", units_bytes(bytes, a->rss_bytes));
	if (a->swap_bytes)
		strbuf_printf(out, " and %s in swap", units_bytes(bytes, a->swap_bytes));
	strbuf_puts(out, "\n");
	for (unsigned i = 0; i < MAP_PARTS; i++) {
		if (!a->part[i])
			continue;
		strbuf_printf(out, "  %7s  %5s%%  %-8s %s\n", units_bytes(bytes, a->part[i]),
			units_percent(share, a->part[i], a->rss_bytes), map_part_name(i),
			map_part_help(i));
	}
}

static void memory_pins(struct strbuf *out, const struct snapshot *s, const struct map_account *a,
	const struct export_options *o)
{
	const struct row_style style = site_title_style(o);
	char pages[UNITS_MAX + 8], bytes[UNITS_MAX], live[UNITS_MAX];

	if (!a->pins)
		return;
	strbuf_printf(out,
		a->pinned_pages == 1
			? "  %s page is less than half full, %s is free in it; pinned by:\n"
			: "  %s pages are less than half full, %s is free in them; pinned "
			  "by:\n",
		units_exact(pages, a->pinned_pages), units_bytes(bytes, a->pinned_bytes));
	for (unsigned i = 0; i < a->pins && i < TEXT_PINS; i++) {
		const struct snap_site *site =
			snapshot_site(o->whole ? o->whole : s, a->pin[i].site);

		if (!site)
			continue;
		strbuf_printf(out, "  %7s  free in %s page%s with %s of ",
			units_bytes(bytes, a->pin[i].cost_bytes),
			units_exact(pages, a->pin[i].pages), units_plural(a->pin[i].pages),
			units_bytes(live, a->pin[i].live_bytes));
		site_title(out, site, &style);
	}
}

static void memory_sites(struct strbuf *out, const struct snapshot *s, const struct map_account *a,
	const struct export_options *o)
{
	const struct row_style style = site_title_style(o);
	char rss[UNITS_MAX], size[UNITS_MAX];

	for (unsigned i = 0; i < a->sites && i < TEXT_SITES && a->site[i].rss_bytes; i++) {
		const struct snap_site *site =
			snapshot_site(o->whole ? o->whole : s, a->site[i].site);

		if (!site)
			continue;
		if (i == 0)
			strbuf_puts(out, "  mapped by the program, resident:\n");
		strbuf_printf(out, "  %7s  of %s%s%s by ", units_bytes(rss, a->site[i].rss_bytes),
			units_bytes(size, a->site[i].size_bytes),
			a->site[i].shared ? ", shared," : "",
			snapshot_is_inherited(a->site[i].site) ? ", before the fork," : "");
		site_title(out, site, &style);
	}
}

void memory_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct map_account *a = o->memory;
	char when[32], took[UNITS_MAX], bytes[UNITS_MAX];

	if (!a)
		return;
	strbuf_putc(out, '\n');
	if (!a->known) {
		strbuf_printf(out, "rss       unknown: %s\n", a->why);
		return;
	}
	memory_parts(out, a);
	if (a->trim_bytes)
		strbuf_printf(out,
			"  %s of the free memory is in whole pages: malloc_trim(0) could return "
			"about as much\n",
			units_bytes(bytes, a->trim_bytes));
	if (a->top_bytes)
		strbuf_printf(out,
			"  %s of the free memory is at the ends of arenas, which malloc_trim does "
			"not return\n",
			units_bytes(bytes, a->top_bytes));
	memory_sites(out, s, a, o);
	memory_pins(out, s, a, o);
	if (a->note)
		strbuf_printf(out, "  %s\n", a->note);
	strbuf_printf(out, "  as of %s, read in %s\n", clock_iso8601(when, a->read_realtime_ns),
		units_duration(took, a->took_ns));
}

static void memory_figures(struct writer *w, const struct map_account *a)
{
	char when[32];

	writer_uint(w, "rss", a->rss_bytes);
	writer_uint(w, "swap", a->swap_bytes);
	for (unsigned i = 0; i < MAP_PARTS; i++) {
		bool unknown = (a->sampled || a->forked) &&
			       (i == MAP_PART_FREE || i == MAP_PART_SLACK || i == MAP_PART_MAPPED);

		if (unknown)
			writer_null(w, map_part_key(i));
		else
			writer_uint(w, map_part_key(i), a->part[i]);
	}
	writer_uint(w, "all_live_bytes", a->live_bytes);
	writer_uint(w, "trim_bytes", a->trim_bytes);
	writer_uint(w, "arena_top_bytes", a->top_bytes);
	writer_uint(w, "pinned_pages", a->pinned_pages);
	writer_uint(w, "pinned_bytes", a->pinned_bytes);
	writer_bool(w, "glibc", a->glibc);
	writer_bool(w, "sampled", a->sampled);
	writer_string(w, "note", a->note);
	writer_string(w, "time", clock_iso8601(when, a->read_realtime_ns));
	writer_uint(w, "read_ns", a->took_ns);
}

/* A parent's site is in no other place of the report. */
static void site_json(struct writer *w, const struct snapshot *s, const struct map_site *of)
{
	bool is_inherited = snapshot_is_inherited(of->site);
	const struct snap_site *site = is_inherited ? snapshot_site(s, of->site) : NULL;

	writer_object(w, NULL);
	writer_uint(w, "site", is_inherited ? 0 : of->site);
	writer_uint(w, "rss_bytes", of->rss_bytes);
	writer_uint(w, "size_bytes", of->size_bytes);
	writer_bool(w, "shared", of->shared);
	writer_bool(w, "inherited", is_inherited);
	if (site) {
		writer_string(w, "function", site->alloc_function);
		json_stack(w, "stack", site->stack);
	}
	writer_end(w);
}

void memory_json(struct writer *w, const struct snapshot *s, const struct export_options *o)
{
	const struct map_account *a = o->memory;

	if (!a) {
		writer_null(w, "memory");
		return;
	}
	writer_object(w, "memory");
	writer_string(w, "failed", a->known ? NULL : a->why);
	if (a->known)
		memory_figures(w, a);
	writer_array(w, "pins");
	writer_lines(w);
	for (unsigned i = 0; i < a->pins; i++) {
		writer_object(w, NULL);
		writer_uint(w, "site", a->pin[i].site);
		writer_uint(w, "pages", a->pin[i].pages);
		writer_uint(w, "pages_alone", a->pin[i].alone);
		writer_uint(w, "live_bytes", a->pin[i].live_bytes);
		writer_uint(w, "cost_bytes", a->pin[i].cost_bytes);
		writer_end(w);
	}
	writer_end(w);
	writer_array(w, "mapped_sites");
	writer_lines(w);
	for (unsigned i = 0; i < a->sites; i++)
		site_json(w, s, &a->site[i]);
	writer_end(w);
	writer_end(w);
}
