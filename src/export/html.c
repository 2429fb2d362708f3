/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One self-contained HTML file: timeline, zoomable icicle, table. The page is
 * src/export/html_page, which the assembler includes in the program unchanged; this file writes
 * the data that it draws: the sites as JSON. All text from the recorded program is in that JSON,
 * without a '<' that could end it, or is escaped. A content security policy keeps the page from
 * loading anything and from running scripts but its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include "src/export/formats.h"
#include "src/export/past.h"
#include "src/export/stack_tree.h"
#include "src/export/writer.h"
#include "src/util/clock.h"

#define POINTS_MOST 500 /* more are less than two pixels apart */

#define EMBED(symbol, path)                                                                        \
	__asm__(".section .rodata\n" symbol "_begin:\n.incbin \"src/export/html_page/" path        \
		"\"\n" symbol "_end:\n.previous\n")

EMBED("html_page_css", "page.css");
EMBED("html_page_js", "page.js");
EMBED("html_page_html", "page.html");
extern const char css_begin[] __asm__("html_page_css_begin"), css_end[] __asm__(
								      "html_page_css_end");
extern const char js_begin[] __asm__("html_page_js_begin"), js_end[] __asm__("html_page_js_end");
extern const char body_begin[] __asm__("html_page_html_begin"), body_end[] __asm__(
									"html_page_html_end");

struct page {
	struct writer w;
	struct profile profile;
	struct stack_tree tree;
	uint32_t *leaf, *title; /* of each site: its node, and the frame that names it */
	uint64_t sites;
	bool peak; /* the composition of the peak is known */
};

/* ---- numbering ---- */

static void site_number(struct page *p, size_t process, const struct snap_site *site, uint64_t at)
{
	const struct stack *stack = site->stack;
	bool innermost = p->profile.options->show_hidden || stack->title >= stack->nframes;
	uint32_t len, below = (innermost ? 0 : stack->title) + (stack->ancestor ? 1 : 0);
	const uint32_t *path = profile_path(&p->profile, process, site, &len);

	if (len == 0)
		return;
	p->leaf[at] = stack_tree_add(&p->tree, path, len, 0);
	p->title[at] = path[len - 1 - below];
}

/* Gives all frames and nodes their numbers. */
static void page_number(struct page *p)
{
	uint64_t at = 0;

	for (size_t n = 0; n < p->profile.nprocesses; n++)
		p->sites += p->profile.processes[n]->nsites;
	p->leaf = calloc(p->sites + 1, sizeof(*p->leaf));
	p->title = calloc(p->sites + 1, sizeof(*p->title));
	if (!p->leaf || !p->title || !stack_tree_begin(&p->tree)) {
		p->profile.failed = true;
		return;
	}
	for (size_t n = 0; n < p->profile.nprocesses; n++)
		for (size_t i = 0; i < p->profile.processes[n]->nsites; i++)
			site_number(p, n, &p->profile.processes[n]->sites[i], at++);
	p->profile.failed |= p->tree.edges.failed;
}

/* ---- data ---- */

typedef void site_function(struct page *p, const struct snapshot *s, const struct snap_site *site);

/* An array with an element for each site. */
static void column_put(struct page *p, const char *key, site_function *f)
{
	writer_array(&p->w, key);
	for (size_t n = 0; n < p->profile.nprocesses; n++)
		for (size_t i = 0; i < p->profile.processes[n]->nsites; i++)
			f(p, p->profile.processes[n], &p->profile.processes[n]->sites[i]);
	writer_end(&p->w);
}

static void numbers_put(struct page *p, const char *key, const uint32_t *numbers)
{
	writer_array(&p->w, key);
	for (uint64_t i = 0; i < p->sites; i++)
		writer_uint(&p->w, NULL, numbers[i]);
	writer_end(&p->w);
}

static void site_id(struct page *p, const struct snapshot *s, const struct snap_site *site)
{
	writer_uint(&p->w, NULL, site->id);
}

static void site_function_name(
	struct page *p, const struct snapshot *s, const struct snap_site *site)
{
	writer_string(&p->w, NULL, site->alloc_function);
}

static void site_place_text(struct page *p, const struct snapshot *s, const struct snap_site *site)
{
	const struct row_style style = { .show_hidden = p->profile.options->show_hidden };
	char place[COLUMN_TEXT_MAX];

	site_place(site, &style, place, sizeof(place));
	writer_string(&p->w, NULL, place);
}

static bool is_shown(const struct page *p, enum snap_value v)
{
	return v != VALUE_PEAK || p->peak;
}

static void values_put(struct page *p)
{
	writer_array(&p->w, "values");
	for (int v = 0; v < VALUE_COUNT; v++) {
		if (!is_shown(p, (enum snap_value)v))
			continue;
		writer_array(&p->w, NULL);
		for (size_t n = 0; n < p->profile.nprocesses; n++) {
			const struct snapshot *s = p->profile.processes[n];

			for (size_t i = 0; i < s->nsites; i++)
				writer_int(&p->w, NULL,
					profile_weight(s, &s->sites[i], (enum snap_value)v));
		}
		writer_end(&p->w);
	}
	writer_end(&p->w);
}

static void sites_put(struct page *p)
{
	writer_object(&p->w, "sites");
	writer_lines(&p->w);
	column_put(p, "id", site_id);
	column_put(p, "function", site_function_name);
	column_put(p, "place", site_place_text);
	numbers_put(p, "leaf", p->leaf);
	numbers_put(p, "title", p->title);
	values_put(p);
	writer_end(&p->w);
}

static void frames_put(struct page *p)
{
	const struct profile *f = &p->profile;

	writer_object(&p->w, "frames");
	writer_lines(&p->w);
	writer_array(&p->w, "name");
	for (uint32_t i = 0; i < f->nframes; i++)
		writer_string(&p->w, NULL, f->frames[i].name);
	writer_end(&p->w);
	writer_array(&p->w, "file");
	for (uint32_t i = 0; i < f->nframes; i++) {
		const struct frame *frame = f->frames[i].frame;

		writer_string(&p->w, NULL, frame && frame->file ? frame->file : "");
	}
	writer_end(&p->w);
	writer_array(&p->w, "module");
	for (uint32_t i = 0; i < f->nframes; i++)
		writer_string(
			&p->w, NULL, f->frames[i].frame ? f->frames[i].frame->module->name : "");
	writer_end(&p->w);
	writer_array(&p->w, "hidden");
	for (uint32_t i = 0; i < f->nframes; i++)
		writer_uint(&p->w, NULL, f->frames[i].frame && f->frames[i].frame->hidden);
	writer_end(&p->w);
	writer_end(&p->w);
}

/* Node 0 is the root. */
static void nodes_put(struct page *p)
{
	writer_object(&p->w, "nodes");
	writer_array(&p->w, "parent");
	for (uint32_t i = 0; i < p->tree.count; i++)
		writer_uint(&p->w, NULL, p->tree.node[i].parent);
	writer_end(&p->w);
	writer_array(&p->w, "frame");
	for (uint32_t i = 0; i < p->tree.count; i++)
		writer_uint(&p->w, NULL, p->tree.node[i].frame);
	writer_end(&p->w);
	writer_end(&p->w);
}

/* Narrow screens drop the columns c3, then c2. */
static const char *const column_class[VALUE_COUNT] = { [VALUE_LIVE] = "c1",
	[VALUE_BLOCKS] = "c2",
	[VALUE_ALLOCATED] = "c2",
	[VALUE_ALLOCS] = "c3",
	[VALUE_TEMPORARY] = "c3",
	[VALUE_PEAK] = "c2",
	[VALUE_OWN_PEAK] = "c3" };

static void value_table_put(struct page *p)
{
	unsigned number = 0, first = 0;

	writer_array(&p->w, "values");
	for (int v = 0; v < VALUE_COUNT; v++) {
		if (!is_shown(p, (enum snap_value)v))
			continue;
		if (v == (int)p->profile.options->value)
			first = number;
		number++;
		writer_object(&p->w, NULL);
		writer_string(&p->w, "word", value_table[v].word);
		writer_string(&p->w, "title", value_table[v].title);
		writer_bool(&p->w, "bytes", value_table[v].bytes);
		writer_bool(&p->w, "sum", v != VALUE_OWN_PEAK);
		writer_string(&p->w, "column", column_class[v]);
		writer_end(&p->w);
	}
	writer_end(&p->w);
	writer_uint(&p->w, "first", first);
}

static void past_put(struct page *p, const struct snapshot *s, const struct timeline *t)
{
	size_t n;
	struct timeline_point *points = past_points(s, t, POINTS_MOST, &n);

	p->w.out->failed |= !points;
	writer_array(&p->w, "past");
	for (size_t i = 0; i < n; i++) {
		writer_array(&p->w, NULL);
		writer_double(&p->w, NULL, (double)points[i].ns / 1e6);
		writer_uint(&p->w, NULL, points[i].high_bytes);
		writer_end(&p->w);
	}
	writer_end(&p->w);
	free(points);
}

static void processes_put(struct page *p)
{
	char name[256];

	writer_array(&p->w, "processes");
	writer_lines(&p->w);
	for (size_t n = 0; n < p->profile.nprocesses; n++) {
		const struct snapshot *s = p->profile.processes[n];

		writer_object(&p->w, NULL);
		writer_string(&p->w, "name", profile_process_name(s, name, sizeof(name)));
		writer_double(&p->w, "uptime_ms", (double)s->uptime_ns / 1e6);
		writer_double(&p->w, "peak_ms", (double)s->totals.peak_ns / 1e6);
		writer_uint(&p->w, "peak_bytes", s->totals.peak_live_bytes);
		past_put(p, s, n ? NULL : p->profile.options->timeline);
		writer_end(&p->w);
	}
	writer_end(&p->w);
}

static void fact_put(struct page *p, const char *what, uint64_t n, bool bytes)
{
	writer_array(&p->w, NULL);
	writer_string(&p->w, NULL, what);
	writer_uint(&p->w, NULL, n);
	writer_bool(&p->w, NULL, bytes);
	writer_end(&p->w);
}

/* The totals of all processes. Their peaks were at different times: no sum. */
static void facts_put(struct page *p)
{
	uint64_t sum[VALUE_COUNT] = { 0 };

	for (size_t n = 0; n < p->profile.nprocesses; n++)
		for (int v = 0; v < VALUE_COUNT; v++)
			sum[v] += value_total(&p->profile.processes[n]->totals, (enum snap_value)v);
	writer_array(&p->w, "facts");
	for (int v = 0; v <= VALUE_TEMPORARY; v++)
		fact_put(p, value_table[v].title, sum[v], value_table[v].bytes);
	if (p->profile.nprocesses == 1)
		fact_put(p, "peak bytes", sum[VALUE_OWN_PEAK], true);
	else
		fact_put(p, "processes", p->profile.nprocesses, false);
	writer_end(&p->w);
}

static void filter_put(struct page *p)
{
	struct strbuf note = STRBUF_INIT;

	if (!p->profile.options->filter)
		return;
	strbuf_printf(&note,
		"Call stacks and call sites are those that match the filter %s; the other figures "
		"are of all.",
		p->profile.options->filter);
	writer_string(&p->w, NULL, strbuf_text(&note));
	p->w.out->failed |= note.failed;
	strbuf_free(&note);
}

/* What a reader must know before the figures. */
static void notes_put(struct page *p, const struct snapshot *s)
{
	static const char *const moments[] = { [SNAP_NOW] = NULL,
		[SNAP_PEAK] = "Live bytes and blocks are those at the program's peak.",
		[SNAP_PAST] = "This is an earlier moment of the program.",
		[SNAP_RANGE] = "Figures are changes within a range of time; the icicle shows those "
			       "that grew." };

	writer_array(&p->w, "notes");
	if (moments[s->moment])
		writer_string(&p->w, NULL, moments[s->moment]);
	filter_put(p);
	if (s->sampling.most)
		writer_string(
			&p->w, NULL, "Figures are estimates: only some blocks were recorded.");
	if (s->notice)
		writer_string(&p->w, NULL, s->notice);
	writer_end(&p->w);
}

static void head_put(struct page *p, const struct snapshot *s)
{
	char buf[48], when[32], age[UNITS_MAX], state[160];

	snprintf(state, sizeof(state), "pid %d, %s after %s, started %s; heaptop %s", (int)s->pid,
		snapshot_state_text(s, buf), units_duration(age, s->uptime_ns),
		clock_iso8601(when, s->start_realtime_ns), HEAPTOP_VERSION);
	writer_string(&p->w, "command", s->command ? s->command : "?");
	writer_string(&p->w, "state", state);
}

static void data_put(struct page *p, const struct snapshot *s)
{
	writer_object(&p->w, NULL);
	writer_lines(&p->w);
	head_put(p, s);
	facts_put(p);
	notes_put(p, s);
	value_table_put(p);
	processes_put(p);
	frames_put(p);
	nodes_put(p);
	sites_put(p);
	writer_end(&p->w);
}

/* ---- the file ---- */

static void html_text(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
			strbuf_printf(out, "&#%d;", *text);
		else
			strbuf_putc(out, *text);
	}
}

/* JSON inside a script element: nothing in it may look like a tag. Such characters are only in
 * strings. */
static void script_text(struct strbuf *out, const struct strbuf *json)
{
	const char *text = strbuf_text(json);

	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&')
			strbuf_printf(out, "\\u%04x", *text);
		else
			strbuf_putc(out, *text);
	}
	out->failed |= json->failed;
}

static void page_put(struct strbuf *out, const struct snapshot *s, const struct strbuf *json)
{
	strbuf_puts(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'nonce-heaptop'; style-src 'nonce-heaptop'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"generator\" content=\"heaptop " HEAPTOP_VERSION
		"\">\n<title>heap of ");
	html_text(out, s->command ? s->command : "?");
	strbuf_puts(out, "</title>\n<style nonce=\"heaptop\">\n");
	strbuf_add(out, css_begin, (size_t)(css_end - css_begin));
	strbuf_puts(out, "</style>\n</head>\n<body>\n");
	strbuf_add(out, body_begin, (size_t)(body_end - body_begin));
	strbuf_puts(out, "<script type=\"application/json\" id=\"data\">\n");
	script_text(out, json);
	strbuf_puts(out, "\n</script>\n<script nonce=\"heaptop\">\n");
	strbuf_add(out, js_begin, (size_t)(js_end - js_begin));
	strbuf_puts(out, "</script>\n</body>\n</html>\n");
}

void export_html(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct strbuf json = STRBUF_INIT;
	struct page *p = calloc(1, sizeof(*p));

	if (!p) {
		out->failed = true;
		return;
	}
	p->w.out = &json;
	p->peak = true;
	profile_open(&p->profile, s, o, PROFILE_MODULE, NAMES_FULL);
	for (size_t n = 0; n < p->profile.nprocesses; n++)
		p->peak &= p->profile.processes[n]->totals.has_at_peak;
	page_number(p);
	if (!p->profile.failed)
		data_put(p, s);
	page_put(out, s, &json);
	out->failed |= p->profile.failed;
	strbuf_free(&json);
	stack_tree_free(&p->tree);
	profile_free(&p->profile);
	free(p->leaf);
	free(p->title);
	free(p);
}
