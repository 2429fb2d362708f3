/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums up sites that have something in common (groups.h). Called once a tick while the table is
 * grouped, so a site costs a hash of its frame's names and one table lookup. Main thread.
 */
#include "src/model/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"

const struct group_info group_table[GROUP_COUNT] = {
	[GROUP_STACK] = { 's', "stack", "s stack", "CALL SITE", "FILE:LINE", "sites" },
	[GROUP_CALLER] = { 'c', "caller", "c caller", "CALLER", "FILE:LINE", "callers" },
	[GROUP_FUNCTION] = { 'f', "function", "f function", "FUNCTION", "FILE", "functions" },
	[GROUP_FILE] = { 'l', "file", "l file", "SOURCE FILE", "MODULE", "files" },
	[GROUP_MODULE] = { 'm', "module", "m module", "MODULE", "BUILD-ID", "modules" },
	[GROUP_TYPE] = { 'y', "type", "y type", "TYPE", "FILE:LINE", "types" },
	[GROUP_THREAD] = { 't', "thread", "t thread", "THREAD", "TID", "threads" },
};

int group_find(const char *key)
{
	for (int i = 0; i < GROUP_COUNT; i++)
		if (strcmp(group_table[i].key, key) == 0)
			return i;
	return -1;
}

/* ---- keys --------------------------------------------------------------------------------- */

/*
 * 64 bits, eight bytes at a time, since names are long and there may be 100,000 sites: each word is
 * mixed in by a multiplication, whose high half is then folded into the low one. Two of 100,000
 * groups collide once in billions of programs.
 */
static uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t left = len; left > 0;) {
		size_t take = left < sizeof(uint64_t) ? left : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, p, take);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
		p += take;
		left -= take;
	}
	return (h ^ len) * 0xd6e8feb86659fd93ull;
}

/* Includes the NUL, so that "ab" "c" differs from "a" "bc". */
static uint64_t hash_text(uint64_t h, const char *text)
{
	return hash_bytes(h, text, strlen(text) + 1);
}

/* Code without a name is identified by its position. */
static uint64_t hash_unnamed(uint64_t h, const struct frame *f)
{
	h = hash_text(h, f->module->path);
	return hash_bytes(h, &f->offset, sizeof(f->offset));
}

static uint64_t hash_function(uint64_t h, const struct frame *f)
{
	return f->function ? hash_text(hash_text(h, f->module->path), f->function)
			   : hash_unnamed(h, f);
}

static const struct frame *title_frame(const struct snap_site *site, bool show_hidden)
{
	const struct stack *st = site->stack;

	return snapshot_frame(st, show_hidden || st->title >= st->nframes ? 0 : st->title);
}

uint64_t groups_key(enum group_by by, const struct snap_site *site, bool show_hidden)
{
	const struct frame *f = title_frame(site, show_hidden);
	uint64_t h = 0xcbf29ce484222325ull + by;

	switch (by) {
	case GROUP_CALLER:
		h = hash_function(h, f);
		h = f->file ? hash_bytes(hash_text(h, f->file), &f->line, sizeof(f->line))
			    : hash_unnamed(h, f);
		break;
	case GROUP_FUNCTION:
		h = hash_function(h, f);
		break;
	case GROUP_FILE:
		h = f->file ? hash_text(h, f->file) : hash_text(h + 1, f->module->path);
		break;
	case GROUP_MODULE:
		h = hash_text(hash_text(h, f->module->path), f->module->build_id);
		break;
	case GROUP_TYPE:
		h = site->type.name ? hash_text(h, site->type.name) : h + 1;
		break;
	case GROUP_STACK:
	case GROUP_THREAD:
	case GROUP_COUNT:
		h = hash_bytes(h, &site->id, sizeof(site->id));
		break;
	}
	return h ? h : 1;
}

/* ---- sums --------------------------------------------------------------------------------- */

static int groups_reserve(struct groups *g, size_t sites)
{
	size_t slots = 64;

	if (sites <= g->capacity && g->table)
		return 0;
	groups_free(g);
	sites += sites / 2 + 64;
	while (slots < sites * 2)
		slots *= 2;
	g->site = malloc(sites * sizeof(*g->site));
	g->group = malloc(sites * sizeof(*g->group));
	g->errors = malloc(sites * sizeof(*g->errors));
	g->table = malloc(slots * sizeof(*g->table));
	if (!g->site || !g->group || !g->errors || !g->table) {
		groups_free(g);
		return -ENOMEM;
	}
	g->capacity = sites;
	g->mask = slots - 1;
	return 0;
}

static uint32_t *groups_slot(struct groups *g, uint64_t key)
{
	for (size_t i = key & g->mask;; i = (i + 1) & g->mask)
		if (!g->table[i] || g->group[g->table[i] - 1].key == key)
			return &g->table[i];
}

/* The trends of two sites end at the same moment, and points with the same index are less than
 * SNAP_TREND_TICKS apart; a younger site was 0 before it began. */
static void trend_add(struct snap_site *to, const struct snap_site *from)
{
	unsigned points =
		from->trend_points < SNAP_TREND_POINTS ? from->trend_points : SNAP_TREND_POINTS;

	for (unsigned i = SNAP_TREND_POINTS - points; i < SNAP_TREND_POINTS; i++)
		to->trend[i] += from->trend[i];
	if (points > to->trend_points)
		to->trend_points = (uint8_t)points;
}

static void ages_join(struct snap_site *to, const struct snap_site *from)
{
	if (!from->has_ages)
		return;
	if (!to->has_ages || from->oldest_ns > to->oldest_ns)
		to->oldest_ns = from->oldest_ns;
	if (!to->has_ages || from->youngest_ns < to->youngest_ns)
		to->youngest_ns = from->youngest_ns;
	to->has_ages = true;
}

/* A group has a type if all its sites have the same. */
static void type_add(struct snap_type *to, const struct snap_type *from)
{
	bool same = to->name && from->name && strcmp(to->name, from->name) == 0;

	if (!same)
		*to = (struct snap_type){ 0 };
	else
		*to = (struct snap_type){ to->name, to->blocks + from->blocks, to->of + from->of };
}

static void group_add(struct snap_site *to, struct snap_group *group, const struct snap_site *site)
{
	to->live_bytes += site->live_bytes;
	to->live_blocks += site->live_blocks;
	to->allocs += site->allocs;
	to->frees += site->frees;
	to->alloc_bytes += site->alloc_bytes;
	to->at_peak_bytes += site->at_peak_bytes;
	to->at_peak_blocks += site->at_peak_blocks;
	to->temporary += site->temporary;
	to->faults += site->faults;
	to->rate_bytes_per_s += site->rate_bytes_per_s;
	to->allocs_per_s += site->allocs_per_s;
	to->alloc_bytes_per_s += site->alloc_bytes_per_s;
	to->temporary_per_s += site->temporary_per_s;
	to->compared[0] += site->compared[0];
	to->compared[1] += site->compared[1];
	snapshot_since_add(&to->since, &site->since);
	ages_join(to, site);
	trend_add(to, site);
	if (growth_rank_key(&site->growth) > growth_rank_key(&to->growth))
		to->growth = site->growth;
	type_add(&to->type, &site->type);
	group->sites++;
	/* The oldest site gives the id, and its stack the name. */
	if (site->id < to->id) {
		to->id = site->id;
		to->stack = site->stack;
	}
	if (strcmp(to->alloc_function, site->alloc_function) != 0)
		to->alloc_function = "several functions";
}

static bool is_selected(const struct groups_request *request, const struct snap_site *site)
{
	return !request->filter || filter_match_names(request->filter, site, request->show_hidden);
}

static void group_start(struct groups *g, size_t at, const struct snap_site *site, uint64_t key,
	const struct groups_request *request)
{
	g->group[at] = (struct snap_group){ .by = request->by, .sites = 1, .key = key };
	g->site[at] = *site;
	g->site[at].group = &g->group[at];
	g->errors[at] = (struct error_sum){ 0 };
}

static void groups_sum(
	struct groups *g, const struct snapshot *snap, const struct groups_request *request)
{
	size_t n = 0;

	memset(g->table, 0, (g->mask + 1) * sizeof(*g->table));
	for (size_t i = 0; i < snap->nsites; i++) {
		const struct snap_site *site = &snap->sites[i];
		uint64_t key = groups_key(request->by, site, request->show_hidden);
		uint32_t *slot = groups_slot(g, key);

		if (!is_selected(request, site))
			continue;
		if (*slot) {
			group_add(&g->site[*slot - 1], &g->group[*slot - 1], site);
		} else {
			group_start(g, n, site, key, request);
			*slot = (uint32_t)++n;
		}
		error_sum_add(&g->errors[*slot - 1], &site->error);
	}
	for (size_t i = 0; i < n; i++) {
		g->site[i].error = error_sum_root(&g->errors[i]);
		/* Its sites peaked at different times; the peak of the sum is unknown. */
		if (g->group[i].sites > 1)
			g->site[i].peak_live_bytes = 0;
	}
	g->snap.nsites = n;
}

static void groups_members(
	struct groups *g, const struct snapshot *snap, const struct groups_request *request)
{
	for (size_t i = 0; i < snap->nsites; i++)
		if (groups_key(request->by, &snap->sites[i], request->show_hidden) ==
				request->inside &&
			is_selected(request, &snap->sites[i]))
			g->site[g->snap.nsites++] = snap->sites[i];
}

/* ---- by thread ---------------------------------------------------------------------------- */

uint64_t groups_thread_key(uint32_t id)
{
	return id;
}

static uint32_t thread_id(uint32_t slot)
{
	return GROUPS_THREAD_ID | slot;
}

static const struct snap_thread *thread_of(const struct snapshot *snap, uint32_t slot)
{
	for (size_t i = 0; i < snap->nthreads; i++) {
		/* Rows are mostly in the order of slots. */
		const struct snap_thread *t = &snap->threads[(slot + i) % snap->nthreads];

		if (t->slot == slot)
			return t;
	}
	return NULL;
}

const struct snap_thread *groups_thread(const struct snapshot *snap, uint32_t id)
{
	return thread_of(snap, id & ~GROUPS_THREAD_ID);
}

/* One thread's part of a site. */
static struct snap_site share_site(const struct snap_site *site, const struct snap_share *share)
{
	return (struct snap_site){ .id = site->id,
		.of_thread = true,
		.alloc_function = site->alloc_function,
		.stack = site->stack,
		.live_bytes = share->live_bytes,
		.live_blocks = share->live_blocks,
		.allocs = share->allocs,
		.alloc_bytes = share->alloc_bytes,
		.frees = share->allocs > share->live_blocks ? share->allocs - share->live_blocks
							    : 0 };
}

static void part_add(struct snap_site *to, struct snap_group *group, const struct snap_site *part)
{
	to->live_bytes += part->live_bytes;
	to->live_blocks += part->live_blocks;
	to->allocs += part->allocs;
	to->frees += part->frees;
	to->alloc_bytes += part->alloc_bytes;
	group->sites++;
}

static void counter_batch_add(struct groups *g, const struct snapshot *snap,
	const struct snap_site *site, const struct snap_share *share)
{
	uint32_t id = thread_id(share->slot), *slot = groups_slot(g, groups_thread_key(id));
	struct snap_site part = share_site(site, share);
	size_t at = g->snap.nsites;

	if (*slot) {
		part_add(&g->site[*slot - 1], &g->group[*slot - 1], &part);
		return;
	}
	g->group[at] = (struct snap_group){ .by = GROUP_THREAD,
		.sites = 1,
		.key = groups_thread_key(id),
		.thread = thread_of(snap, share->slot) };
	g->site[at] = part;
	g->site[at].id = id;
	g->site[at].group = &g->group[at];
	if (g->group[at].thread)
		g->site[at].rate_bytes_per_s = g->group[at].thread->live_bytes_per_s;
	*slot = (uint32_t)++g->snap.nsites;
}

static void threads_sum(
	struct groups *g, const struct snapshot *snap, const struct groups_request *request)
{
	memset(g->table, 0, (g->mask + 1) * sizeof(*g->table));
	for (size_t i = 0; snap->has_alive && i < snap->nsites; i++) {
		const struct snap_site *site = &snap->sites[i];

		for (uint32_t k = 0; is_selected(request, site) && k < site->shares; k++)
			counter_batch_add(g, snap, site, &site->share[k]);
	}
}

static void thread_members(
	struct groups *g, const struct snapshot *snap, const struct groups_request *request)
{
	for (size_t i = 0; snap->has_alive && i < snap->nsites; i++) {
		const struct snap_site *site = &snap->sites[i];

		for (uint32_t k = 0; k < site->shares; k++)
			if (groups_thread_key(thread_id(site->share[k].slot)) == request->inside &&
				is_selected(request, site))
				g->site[g->snap.nsites++] = share_site(site, &site->share[k]);
	}
}

/* ---- result ------------------------------------------------------------------------------- */

/* Keeps the groups whose sums match the terms on numbers. */
static void groups_choose(struct groups *g, const struct filter *filter)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->snap.nsites; i++)
		if (filter_match_numbers(filter, &g->snap, &g->site[i]))
			g->site[kept++] = g->site[i];
	g->snap.nsites = kept;
}

static void groups_fill(
	struct groups *g, const struct snapshot *snap, const struct groups_request *request)
{
	/* Percentages refer to the total counted at the same time. */
	if (request->by == GROUP_THREAD)
		g->snap.totals.live_bytes = snap->alive_bytes;
	if (request->by == GROUP_THREAD && request->inside)
		thread_members(g, snap, request);
	else if (request->by == GROUP_THREAD)
		threads_sum(g, snap, request);
	else if (request->inside)
		groups_members(g, snap, request);
	else
		groups_sum(g, snap, request);
}

int groups_make(struct groups *g, const struct snapshot *snap, const struct groups_request *request)
{
	/* By thread, a row is a thread, or one thread's part of a site. */
	int rc = groups_reserve(g, snap->nsites + snap->nthreads);

	g->snap = *snap;
	g->snap.sites = g->site;
	g->snap.nsites = 0;
	if (rc)
		return rc;
	groups_fill(g, snap, request);
	if (request->filter)
		groups_choose(g, request->filter);
	return 0;
}

void groups_free(struct groups *g)
{
	free(g->site);
	free(g->group);
	free(g->errors);
	free(g->table);
	*g = (struct groups){ 0 };
}
