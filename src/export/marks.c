/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks in reports (marks.h). Called by text.c and json.c, on the main thread. */
#include "src/export/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/mark_list.h"
#include "src/util/units.h"

/* The live part of the allocated blocks, for mark `to` or now. */
static void kept_text(
	struct strbuf *out, const struct snapshot *s, const struct snap_mark *to, uint64_t allocs)
{
	uint64_t blocks = to ? to->alive_blocks : s->newest.kept_blocks;
	uint64_t bytes = to ? to->alive_bytes : s->newest.kept_bytes;
	uint64_t of = to ? allocs : s->newest.kept_of;
	char alive[UNITS_MAX], share[UNITS_MAX] = "-";

	if (!mark_list_is_counted(s, to)) {
		strbuf_printf(out, "  %6s  %5s", "-", "-");
		return;
	}
	if (of)
		units_percent(share, blocks < of ? blocks : of, of);
	strbuf_printf(out, "  %6s  %5s", units_bytes(alive, bytes), share);
}

static void mark_row(struct strbuf *out, const struct snapshot *s, const struct snap_mark *to,
	const struct snap_mark *from)
{
	struct snap_since since = mark_list_between(s, from, to);
	char number[16] = "now", time[UNITS_MAX], live[UNITS_MAX], grew[UNITS_MAX + 1],
	     allocs[UNITS_MAX];

	if (to)
		snprintf(number, sizeof(number), "%u", to->number);
	strbuf_printf(out, "  %5s  %7s  %6s  %7s  %6s", number,
		units_duration(time, to ? to->ns : s->uptime_ns),
		units_bytes(live, to ? to->live_bytes : s->totals.live_bytes),
		units_signed(grew, since.bytes, units_bytes), units_count(allocs, since.allocs));
	kept_text(out, s, to, since.allocs);
	if (to && to->name[0])
		strbuf_printf(out, "  %s", to->name);
	strbuf_putc(out, '\n');
}

/* All marks, oldest first; the caller frees the array. NULL when out of memory. */
static const struct snap_mark **moments_all(const struct snapshot *s, size_t *count)
{
	const struct snap_mark **all;
	size_t n = 0;

	for (const struct snap_mark *m = s->moments; m; m = m->before)
		n++;
	*count = n;
	all = malloc((n + 1) * sizeof(*all));
	for (const struct snap_mark *m = s->moments; all && m; m = m->before)
		all[--n] = m;
	return all;
}

void marks_text(struct strbuf *out, const struct snapshot *s)
{
	size_t n = 0;
	const struct snap_mark **all = s->moments ? moments_all(s, &n) : NULL;

	if (!s->moments)
		return;
	out->failed |= !all;
	strbuf_puts(out, "\n mark     time    live     grew  allocs   alive  kept%\n");
	for (size_t i = 0; all && i < n; i++)
		mark_row(out, s, all[i], all[i]->before);
	mark_row(out, s, NULL, s->moments);
	free(all);
}

void marks_text_site(struct strbuf *out, const struct snapshot *s, const struct snap_site *site)
{
	const struct snap_since *since = &site->since;
	char bytes[UNITS_MAX + 1], allocs[UNITS_MAX + 8], kept[UNITS_MAX], from[MARK_LIST_TEXT];
	uint64_t blocks = since->blocks < 0 ? -(uint64_t)since->blocks : (uint64_t)since->blocks;

	if (!s->since || (since->allocs == 0 && since->bytes == 0))
		return;
	strbuf_printf(out, "     since %s: %s, %s%s block%s; allocated",
		mark_list_text(s->since, from), units_signed(bytes, since->bytes, units_bytes),
		since->blocks > 0   ? "+"
		: since->blocks < 0 ? "-"
				    : "",
		units_exact(allocs, blocks), units_plural(blocks));
	strbuf_printf(out, " %s in %s block%s", units_bytes(bytes, since->alloc_bytes),
		units_exact(allocs, since->allocs), units_plural(since->allocs));
	if (s->kept && since->kept_of)
		strbuf_printf(out, ", %s%% of these alive",
			units_percent(kept,
				since->kept_blocks < since->kept_of ? since->kept_blocks
								    : since->kept_of,
				since->kept_of));
	strbuf_printf(out, ", freed %s\n", units_bytes(bytes, snapshot_since_freed(since)));
}

static void json_moment_sites(struct writer *w, const struct snap_mark *m)
{
	writer_array(w, "sites");
	for (size_t i = 0; i < m->nsites; i++) {
		const struct snap_mark_site *site = &m->sites[i];

		writer_object(w, NULL);
		writer_uint(w, "id", site->id);
		writer_uint(w, "live_bytes", site->live_bytes);
		writer_uint(w, "live_blocks", site->live_blocks);
		writer_uint(w, "allocs", site->allocs);
		writer_uint(w, "alloc_bytes", site->alloc_bytes);
		writer_end(w);
	}
	writer_end(w);
}

static void json_moment(struct writer *w, const struct snapshot *s, const struct snap_mark *m)
{
	writer_object(w, NULL);
	writer_uint(w, "number", m->number);
	writer_string(w, "name", m->name);
	writer_uint(w, "ns", m->ns);
	writer_uint(w, "live_bytes", m->live_bytes);
	writer_uint(w, "live_blocks", m->live_blocks);
	writer_uint(w, "allocs", m->allocs);
	writer_uint(w, "alloc_bytes", m->alloc_bytes);
	if (mark_list_is_counted(s, m)) {
		writer_uint(w, "alive_blocks", m->alive_blocks);
		writer_uint(w, "alive_bytes", m->alive_bytes);
	} else {
		writer_null(w, "alive_blocks");
		writer_null(w, "alive_bytes");
	}
	json_moment_sites(w, m);
	writer_end(w);
}

void marks_json(struct writer *w, const struct snapshot *s)
{
	size_t n = 0;
	const struct snap_mark **all = s->moments ? moments_all(s, &n) : NULL;

	if (!s->moments)
		return;
	w->out->failed |= !all;
	writer_array(w, "marks");
	writer_lines(w);
	for (size_t i = 0; all && i < n; i++)
		json_moment(w, s, all[i]);
	writer_end(w);
	free(all);
}

void marks_json_site(struct writer *w, const struct snapshot *s, const struct snap_site *site)
{
	const struct snap_since *since = &site->since;

	if (!s->since)
		return;
	writer_object(w, "since");
	writer_uint(w, "mark", s->since->number);
	writer_int(w, "bytes", since->bytes);
	writer_int(w, "blocks", since->blocks);
	writer_uint(w, "allocs", since->allocs);
	writer_uint(w, "alloc_bytes", since->alloc_bytes);
	if (s->kept) {
		writer_uint(w, "alive_blocks", since->kept_blocks);
		writer_uint(w, "alive_bytes", since->kept_bytes);
	} else {
		writer_null(w, "alive_blocks");
		writer_null(w, "alive_bytes");
	}
	writer_end(w);
}
