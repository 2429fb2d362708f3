/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON report. Users' scripts rely on its fields and their order: add fields, never rename one.
 * Main thread. Strings are always written as well-formed UTF-8, and no number is NaN or infinite.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/export/allocators.h"
#include "src/export/attached.h"
#include "src/export/export.h"
#include "src/export/holders.h"
#include "src/export/json_leaks.h"
#include "src/export/json_stack.h"
#include "src/export/launch.h"
#include "src/export/mapped.h"
#include "src/export/marks.h"
#include "src/export/memory.h"
#include "src/export/text.h"
#include "src/export/writer.h"
#include "src/export/sampled.h"
#include "src/export/wrong_frees.h"
#include "src/model/growth.h"
#include "src/util/clock.h"

#define JSON_FORMAT 1

static void json_process(struct writer *w, const struct snapshot *s)
{
	char unnamed[24];

	writer_object(w, "process");
	if (s->processes)
		writer_uint(w, "summed", s->processes);
	writer_int(w, "pid", s->pid);
	writer_string(w, "host", s->host);
	writer_bool(w, "forked", s->forked);
	writer_array(w, "command");
	for (unsigned i = 0; i < s->argc; i++)
		writer_string(w, NULL, s->argv[i]);
	writer_end(w);
	writer_string(w, "exe", s->exe);
	writer_string(w, "state", snapshot_state_word(s));
	if (s->state == SNAP_EXITED && s->exit_status >= 0)
		writer_int(w, "exit_status", s->exit_status);
	else
		writer_null(w, "exit_status");
	snprintf(unnamed, sizeof(unnamed), "SIG%d", s->signal);
	if (s->state == SNAP_KILLED)
		writer_string(w, "signal", s->signal_name ? s->signal_name : unnamed);
	else
		writer_null(w, "signal");
	writer_end(w);
}

static void json_time(struct writer *w, const struct snapshot *s)
{
	char buf[32];

	writer_object(w, "time");
	writer_string(w, "start", clock_iso8601(buf, s->start_realtime_ns));
	writer_string(w, "now", clock_iso8601(buf, s->now_realtime_ns));
	writer_uint(w, "uptime_ns", s->uptime_ns);
	writer_string(w, "moment", snapshot_moment_word(s));
	if (s->moment == SNAP_RANGE)
		writer_uint(w, "from_ns", s->range_from_ns);
	writer_end(w);
}

/* A figure that is not an estimate has no error: null. */
static void json_error(struct writer *w, const struct snap_error *e, bool sampled)
{
	const struct {
		const char *key;
		uint64_t value;
	} field[] = {
		{ "error_bytes", e->live_bytes },
		{ "error_blocks", e->live_blocks },
		{ "error_alloc_bytes", e->alloc_bytes },
		{ "error_allocs", e->allocs },
	};

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		if (sampled)
			writer_uint(w, field[i].key, field[i].value);
		else
			writer_null(w, field[i].key);
	}
}

/* Null if it is unknown what was live at the peak. */
static void json_at_peak(struct writer *w, bool known, uint64_t bytes, uint64_t blocks)
{
	if (known) {
		writer_uint(w, "at_peak_bytes", bytes);
		writer_uint(w, "at_peak_blocks", blocks);
	} else {
		writer_null(w, "at_peak_bytes");
		writer_null(w, "at_peak_blocks");
	}
}

static bool is_unknown(const struct snap_totals *t, const char *key)
{
	return (t->no_reallocs && strcmp(key, "reallocs") == 0) ||
	       (t->no_peak_time && strcmp(key, "peak_ns") == 0);
}

static void json_totals(struct writer *w, const struct snap_totals *t, bool sampled)
{
	const struct {
		const char *key;
		uint64_t value;
	} field[] = {
		{ "allocs", t->allocs },
		{ "frees", t->frees },
		{ "reallocs", t->reallocs },
		{ "alloc_bytes", t->alloc_bytes },
		{ "free_bytes", t->free_bytes },
		{ "live_blocks", t->live_blocks },
		{ "live_bytes", t->live_bytes },
		{ "peak_live_bytes", t->peak_live_bytes },
		{ "temporary", t->temporary },
		{ "failed", t->failed },
		{ "unknown_frees", t->unknown_frees },
		{ "wrong_frees_unlisted", t->wrong_unlisted },
		{ "missed_frees", t->missed_frees },
		{ "lost_events", t->lost_events },
		{ "untracked_blocks", t->untracked_blocks },
		{ "untracked_bytes", t->untracked_bytes },
		{ "paused_blocks", t->paused_blocks },
		{ "paused_bytes", t->paused_bytes },
		{ "peak_ns", t->peak_ns },
		{ "truncated_stacks", t->truncated_stacks },
		{ "ancestor_allocs", t->ancestor_allocs },
		{ "ancestor_live_bytes", t->ancestor_live_bytes },
	};

	writer_object(w, "totals");
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		if (is_unknown(t, field[i].key))
			writer_null(w, field[i].key);
		else
			writer_uint(w, field[i].key, field[i].value);
	json_error(w, &t->error, sampled);
	if (t->has_faults) {
		writer_uint(w, "faults_elsewhere", t->faults_elsewhere);
		writer_uint(w, "faults_lost", t->faults_lost);
	}
	json_at_peak(w, t->has_at_peak, t->at_peak_bytes, t->at_peak_blocks);
	mapped_json_totals(w, t);
	attached_json_before(w, t);
	writer_end(w);
}

/* A value that was never read is null, not a zero that looks measured. */
static void json_proc(struct writer *w, const struct snap_proc *p)
{
	const struct {
		const char *key;
		uint64_t value;
		bool known;
	} field[] = {
		{ "rss", p->rss, p->valid },
		{ "hwm", p->hwm, p->valid },
		{ "pss", p->pss, p->valid && p->have_pss },
		{ "swap", p->swap, p->valid },
		{ "minor_faults", p->minor_faults, p->valid },
		{ "major_faults", p->major_faults, p->valid },
		{ "threads", p->threads, p->valid },
	};

	writer_object(w, "proc");
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		if (field[i].known)
			writer_uint(w, field[i].key, field[i].value);
		else
			writer_null(w, field[i].key);
	}
	writer_end(w);
}

static void json_self(struct writer *w, const struct snapshot *s)
{
	writer_object(w, "self");
	writer_uint(w, "segment_bytes", s->segment_bytes);
	writer_uint(w, "stack_memory_bytes", s->totals.stacks_bytes);
	writer_uint(w, "stacks_forgotten", s->totals.stacks_forgotten);
	writer_uint(w, "viewer_cpu_ns", s->viewer_cpu_ns);
	writer_end(w);
}

/* Only if the unwinder was checked against its reference. */
static void json_unwinds(struct writer *w, const struct snap_totals *t)
{
	if (t->unwinds_checked == 0)
		return;
	writer_object(w, "unwinds");
	writer_uint(w, "checked", t->unwinds_checked);
	writer_uint(w, "wrong", t->unwinds_wrong);
	writer_uint(w, "shorter", t->unwinds_shorter);
	writer_uint(w, "longer", t->unwinds_longer);
	writer_end(w);
}

/* A bucket's bound. The last one has none: null, because scripts cannot read UINT64_MAX exactly. */
static void json_bound(struct writer *w, const char *key, uint64_t bound)
{
	if (bound == UINT64_MAX)
		writer_null(w, key);
	else
		writer_uint(w, key, bound);
}

static void json_histograms(struct writer *w, const struct snapshot *s)
{
	writer_array(w, "size_histogram");
	writer_lines(w);
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		writer_object(w, NULL);
		json_bound(w, "le", snap_size_le(i));
		writer_uint(w, "live_blocks", s->sizes[i].live_blocks);
		writer_uint(w, "live_bytes", s->sizes[i].live_bytes);
		writer_uint(w, "allocs", s->sizes[i].allocs);
		writer_end(w);
	}
	writer_end(w);
	writer_array(w, "lifetime_histogram");
	writer_lines(w);
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++) {
		writer_object(w, NULL);
		json_bound(w, "le_ns", snap_life_le_ns(i));
		writer_uint(w, "frees", s->lifetimes[i]);
		writer_end(w);
	}
	writer_end(w);
}

/* Threads by slot, which another thread takes over when one ends; `live_*` count the blocks that
 * the slot's threads allocated. */
static void json_threads(struct writer *w, const struct snapshot *s)
{
	writer_array(w, "threads");
	writer_lines(w);
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct snap_thread *t = &s->threads[i];

		writer_object(w, NULL);
		writer_uint(w, "tid", t->tid);
		writer_string(w, "name", t->name);
		writer_uint(w, "owners", t->owners);
		writer_uint(w, "allocs", t->allocs);
		writer_uint(w, "frees", t->frees);
		writer_uint(w, "alloc_bytes", t->alloc_bytes);
		writer_uint(w, "free_bytes", t->free_bytes);
		writer_uint(w, "foreign_frees", t->foreign_frees);
		writer_uint(w, "foreign_bytes", t->foreign_bytes);
		if (s->has_alive) {
			writer_uint(w, "live_blocks", t->live_blocks);
			writer_uint(w, "live_bytes", t->live_bytes);
		}
		writer_end(w);
	}
	writer_end(w);
}

/* Null: no growth detected. */
static void json_growth(struct writer *w, const struct snap_growth *g)
{
	if (g->sure <= 0) {
		writer_null(w, "growth");
		return;
	}
	writer_object(w, "growth");
	writer_string(w, "word", growth_word_text(g));
	writer_double(w, "sure", g->sure);
	writer_double(w, "bytes_per_s", g->bytes_per_s);
	writer_uint(w, "over_ns", g->over_ns);
	if (g->has_kept)
		writer_double(w, "kept", g->kept);
	else
		writer_null(w, "kept");
	writer_end(w);
}

static void json_site(struct writer *w, const struct snapshot *s, const struct snap_site *site)
{
	writer_object(w, NULL);
	writer_uint(w, "id", site->id);
	writer_string(w, "kind", snapshot_kind_word(site->kind));
	writer_string(w, "function", site->alloc_function);
	writer_uint(w, "live_bytes", site->live_bytes);
	writer_uint(w, "live_blocks", site->live_blocks);
	writer_uint(w, "allocs", site->allocs);
	writer_uint(w, "frees", site->frees);
	writer_uint(w, "alloc_bytes", site->alloc_bytes);
	writer_uint(w, "peak_live_bytes", site->peak_live_bytes);
	writer_uint(w, "temporary", site->temporary);
	writer_double(w, "rate_bytes_per_s", site->rate_bytes_per_s);
	json_error(w, &site->error, s->sampling.most != 0);
	json_at_peak(w, s->totals.has_at_peak, site->at_peak_bytes, site->at_peak_blocks);
	json_growth(w, &site->growth);
	if (s->totals.has_faults)
		writer_uint(w, "faults", site->faults);
	if (site->has_ages) {
		writer_uint(w, "oldest_ns", site->oldest_ns);
		writer_uint(w, "youngest_ns", site->youngest_ns);
	}
	holders_json_site(w, s, site);
	marks_json_site(w, s, site);
	json_stack(w, "stack", site->stack);
	writer_bool(w, "truncated", site->stack->truncated);
	writer_bool(w, "ancestor", site->stack->ancestor);
	writer_end(w);
}

static void json_sites_of(
	struct writer *w, const struct snapshot *s, const struct export_options *o)
{
	uint32_t *order = malloc((s->nsites ? s->nsites : 1) * sizeof(*order));

	if (!order) {
		w->out->failed = true;
		return;
	}
	sites_sort(s, o->sort, o->reverse, order);
	for (size_t i = 0; i < s->nsites; i++) {
		json_site(w, s, &s->sites[order[i]]);
		strbuf_spill(w->out);
	}
	free(order);
}

/* The heap's first. */
static void json_sites(struct writer *w, const struct snapshot *s, const struct export_options *o)
{
	struct snapshot *mapped = mapped_as_sites(s);

	writer_array(w, "sites");
	writer_lines(w);
	json_sites_of(w, s, o);
	if (mapped)
		json_sites_of(w, mapped, o);
	else
		w->out->failed = true;
	writer_end(w);
	free(mapped);
}

/* The groups of --group, in addition to all sites. */
static void json_group(struct writer *w, const struct snapshot *s, const struct snap_site *row,
	const struct export_options *o)
{
	struct row_style style = {
		.glyphs = GLYPHS_BLOCKS, .names = NAMES_FULL, .show_hidden = o->show_hidden
	};
	char name[COLUMN_TEXT_MAX];

	writer_object(w, NULL);
	site_name(row, &style, name, sizeof(name));
	writer_string(w, "name", name);
	site_place(row, &style, name, sizeof(name));
	writer_string(w, "place", name);
	writer_uint(w, "sites", row->group->sites);
	writer_uint(w, "live_bytes", row->live_bytes);
	writer_uint(w, "live_blocks", row->live_blocks);
	writer_uint(w, "allocs", row->allocs);
	writer_uint(w, "frees", row->frees);
	writer_uint(w, "alloc_bytes", row->alloc_bytes);
	writer_uint(w, "temporary", row->temporary);
	writer_double(w, "rate_bytes_per_s", row->rate_bytes_per_s);
	json_error(w, &row->error, s->sampling.most != 0);
	json_at_peak(w, s->totals.has_at_peak, row->at_peak_bytes, row->at_peak_blocks);
	writer_end(w);
}

static void json_groups(struct writer *w, const struct export_options *o)
{
	const struct snapshot *g = o->groups;
	uint32_t *order = g ? malloc((g->nsites ? g->nsites : 1) * sizeof(*order)) : NULL;

	if (!g)
		return;
	if (!order) {
		w->out->failed = true;
		return;
	}
	sites_sort(g, o->sort, o->reverse, order);
	writer_string(w, "group", group_table[o->group].key);
	writer_array(w, "groups");
	writer_lines(w);
	for (size_t i = 0; i < g->nsites; i++)
		json_group(w, g, &g->sites[order[i]], o);
	writer_end(w);
	free(order);
}

static void json_launch(struct writer *w, const struct export_options *o)
{
	const struct snapshot *sum = o->launch ? o->launch->sum : NULL;

	if (!launch_json(w, o))
		return;
	if (sum) {
		json_totals(w, &sum->totals, sum->sampling.most != 0);
		json_sites(w, sum, o);
	}
	writer_end(w);
}

static void json_snapshot(
	struct writer *w, const char *key, const struct snapshot *s, const struct export_options *o)
{
	writer_object(w, key);
	writer_lines(w);
	writer_string(w, "heaptop", o->version ? o->version : "");
	writer_uint(w, "format", JSON_FORMAT);
	json_process(w, s);
	json_time(w, s);
	json_totals(w, &s->totals, s->sampling.most != 0);
	json_proc(w, &s->proc);
	memory_json(w, s, o);
	json_self(w, s);
	attached_json(w, s);
	sampled_json(w, &s->sampling);
	json_unwinds(w, &s->totals);
	json_histograms(w, s);
	json_threads(w, s);
	allocators_json(w, s);
	json_groups(w, o);
	json_sites(w, s, o);
	json_leaks(w, s, o);
	wrong_frees_json(w, s);
	marks_json(w, s);
	json_launch(w, o);
	writer_string(w, "notice", s->notice);
	writer_string(w, "verdict", o->verdict);
	writer_array(w, "children");
	writer_lines(w);
	for (size_t i = 0; i < s->nchildren; i++) {
		const struct export_options child = export_child_options(o, i);

		json_snapshot(w, NULL, s->children[i], &child);
	}
	writer_end(w);
	writer_end(w);
}

void export_json(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct writer w = { .out = out };

	json_snapshot(&w, NULL, s, o);
	strbuf_putc(out, '\n');
}
