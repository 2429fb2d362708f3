/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaves call sites out (ignored.h). A stack with all names is judged once, since the screen asks
 * at each tick. Main thread.
 */
#include "src/model/ignored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/error_sum.h"
#include "src/model/moment.h"
#include "src/model/site_index.h"

enum verdict { UNKNOWN, KEPT, LEFT_OUT };

struct ignored {
	struct filter *ignore[IGNORED_RULES_MAX], *only[IGNORED_RULES_MAX];
	unsigned nignore, nonly;
	/* By site id, of the image that owns the snapshots. */
	const void *owner;
	uint8_t *verdict;
	uint32_t room;
};

bool ignored_is_rule(const char *text, char why[FILTER_WHY_MAX])
{
	struct filter *f = filter_parse(text, why);
	bool all = f && filter_match_text(f, "");

	filter_free(f);
	if (all)
		snprintf(why, FILTER_WHY_MAX, "must name a function, file or module");
	return f && !all;
}

static unsigned rules_parse(
	struct filter *out[IGNORED_RULES_MAX], const char *const *text, unsigned count)
{
	char why[FILTER_WHY_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++) {
		out[n] = filter_parse(text[i], why);
		n += out[n] != NULL;
	}
	return n;
}

struct ignored *ignored_new(const struct ignored_rules *rules)
{
	struct ignored *g = rules->nignore + rules->nonly > 0 ? calloc(1, sizeof(*g)) : NULL;

	if (!g)
		return NULL;
	g->nignore = rules_parse(g->ignore, rules->ignore, rules->nignore);
	g->nonly = rules_parse(g->only, rules->only, rules->nonly);
	return g;
}

void ignored_free(struct ignored *g)
{
	if (!g)
		return;
	for (unsigned i = 0; i < g->nignore; i++)
		filter_free(g->ignore[i]);
	for (unsigned i = 0; i < g->nonly; i++)
		filter_free(g->only[i]);
	free(g->verdict);
	free(g);
}

/* ---- which ------------------------------------------------------------------------------- */

#define NOWHERE UINT32_MAX

static bool frame_has(const struct frame *f, struct filter *const *rule, unsigned rules)
{
	for (unsigned i = 0; i < rules; i++)
		if (filter_match_frame(rule[i], f))
			return true;
	return false;
}

/* The innermost frame that a rule matches, or NOWHERE. */
static uint32_t stack_find(const struct stack *stack, struct filter *const *rule, unsigned rules)
{
	for (uint32_t i = 0; i < stack->nframes && rules > 0; i++)
		if (frame_has(snapshot_frame(stack, i), rule, rules))
			return i;
	return NOWHERE;
}

bool ignored_is_total(const struct snap_site *site)
{
	const char *name = snapshot_frame(site->stack, 0)->function;

	return site->stack->nframes == 1 && name && strcmp(name, IGNORED_NAME) == 0;
}

static bool is_out(const struct ignored *g, const struct snap_site *site)
{
	const struct stack *stack = site->stack;

	return ignored_is_total(site) || stack_find(stack, g->ignore, g->nignore) != NOWHERE ||
	       (g->nonly > 0 && stack_find(stack, g->only, g->nonly) == NOWHERE);
}

bool ignored_decides(const struct ignored *g, const struct snap_site *site, uint32_t *frame)
{
	const struct stack *stack = site->stack;
	uint32_t at = stack_find(stack, g->ignore, g->nignore);

	*frame = 0;
	for (uint32_t i = 0; at != NOWHERE && i < at; i++)
		*frame += !snapshot_frame(stack, i)->inlined;
	if (at == NOWHERE)
		*frame = IGNORED_WHOLE;
	return at != NOWHERE || (g->nonly > 0 && !ignored_is_total(site) &&
					stack_find(stack, g->only, g->nonly) == NOWHERE);
}

static const struct snap_module row_module = { .path = "", .name = "", .build_id = "" };
static const struct frame row_frame = { .module = &row_module, .function = IGNORED_NAME };
static const struct stack row_stack = { .frames = &row_frame, .nframes = 1, .resolved = true };

bool ignored_is_row(const struct snap_site *site)
{
	return site->stack == &row_stack;
}

static void verdicts_forget(struct ignored *g, const void *owner)
{
	if (g->room)
		memset(g->verdict, UNKNOWN, g->room);
	g->owner = owner;
}

/* Where to remember the verdict on a site; NULL: nowhere. */
static uint8_t *verdict_at(struct ignored *g, uint32_t id)
{
	uint32_t room = g->room ? g->room : 1024;
	uint8_t *grown;

	if (id >= 1u << 24)
		return NULL;
	while (room <= id)
		room *= 2;
	if (room > g->room) {
		grown = realloc(g->verdict, room);
		if (!grown)
			return NULL;
		memset(grown + g->room, UNKNOWN, room - g->room);
		g->verdict = grown;
		g->room = room;
	}
	return &g->verdict[id];
}

static bool is_left_out(struct ignored *g, const struct snap_site *site)
{
	uint8_t *known;
	bool out;

	if (ignored_is_row(site))
		return true;
	known = site->stack->resolved ? verdict_at(g, site->id) : NULL;
	if (known && *known != UNKNOWN)
		return *known == LEFT_OUT;
	out = is_out(g, site);
	if (known)
		*known = out ? LEFT_OUT : KEPT;
	return out;
}

/* ---- the row ----------------------------------------------------------------------------- */

static void row_add(struct snap_site *row, struct error_sum *errors, const struct snap_site *site)
{
	if (site->id < row->id)
		row->id = site->id;
	row->live_bytes += site->live_bytes;
	row->live_blocks += site->live_blocks;
	row->allocs += site->allocs;
	row->frees += site->frees;
	row->alloc_bytes += site->alloc_bytes;
	row->at_peak_bytes += site->at_peak_bytes;
	row->at_peak_blocks += site->at_peak_blocks;
	row->temporary += site->temporary;
	row->faults += site->faults;
	row->rate_bytes_per_s += site->rate_bytes_per_s;
	row->allocs_per_s += site->allocs_per_s;
	row->alloc_bytes_per_s += site->alloc_bytes_per_s;
	row->temporary_per_s += site->temporary_per_s;
	for (unsigned i = 0; i < SNAP_TREND_POINTS; i++)
		row->trend[i] += site->trend[i];
	if (row->trend_points < site->trend_points)
		row->trend_points = site->trend_points;
	error_sum_add(errors, &site->error);
	snapshot_since_add(&row->since, &site->since);
}

/* Its peak is unknown: at least what it has, or had at the program's peak. */
static void row_finish(struct snap_site *row, const struct error_sum *errors)
{
	row->alloc_function = "several";
	row->stack = &row_stack;
	row->peak_live_bytes =
		row->live_bytes > row->at_peak_bytes ? row->live_bytes : row->at_peak_bytes;
	row->error = error_sum_root(errors);
}

/* ---- threads ----------------------------------------------------------------------------- */

static size_t shares_count(struct ignored *g, const struct snapshot *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->nsites; i++)
		if (s->sites[i].shares > 0 && is_left_out(g, &s->sites[i]))
			count += s->sites[i].shares;
	return count;
}

static int share_compare(const void *a_, const void *b_)
{
	const struct snap_share *a = a_, *b = b_;

	return (a->slot > b->slot) - (a->slot < b->slot);
}

static void share_add(struct snap_share *to, const struct snap_share *share)
{
	to->allocs += share->allocs;
	to->alloc_bytes += share->alloc_bytes;
	to->live_blocks += share->live_blocks;
	to->live_bytes += share->live_bytes;
}

/* Gives the row one share for each thread. `share`: as many as all of its sites have. */
static void shares_fold(struct ignored *g, const struct snapshot *s, struct snap_site *row,
	struct snap_share *share)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < s->nsites; i++) {
		const struct snap_site *site = &s->sites[i];

		if (site->shares == 0 || !is_left_out(g, site))
			continue;
		memcpy(share + n, site->share, site->shares * sizeof(*share));
		n += site->shares;
	}
	qsort(share, n, sizeof(*share), share_compare);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && share[kept - 1].slot == share[i].slot) {
			share_add(&share[kept - 1], &share[i]);
			continue;
		}
		share[kept] = share[i];
		share[kept++].site = row->id;
	}
	row->share = share;
	row->shares = (uint32_t)kept;
}

/* ---- leaks ------------------------------------------------------------------------------- */

/* The leaks of a derived snapshot, in its memory. */
struct leaks_room {
	struct snap_leaks leaks;
	struct snap_leak_site *row[SNAP_LEAK_CLASSES][2]; /* for what is left out; NULL: none yet */
	struct snap_leak_site site[];
};

static void leak_add(struct snap_leak_site *to, const struct snap_leak_site *leak)
{
	to->sum.blocks += leak->sum.blocks;
	to->sum.bytes += leak->sum.bytes;
	to->indirect.blocks += leak->indirect.blocks;
	to->indirect.bytes += leak->indirect.bytes;
	if (to->oldest_ns == 0 || leak->oldest_ns < to->oldest_ns)
		to->oldest_ns = leak->oldest_ns;
}

/* The row for leaks of this class, made with the first of them. Only ignored ones have its id. */
static struct snap_leak_site *leak_row(
	struct leaks_room *out, uint32_t id, const struct snap_leak_site *leak)
{
	struct snap_leak_site **row = &out->row[leak->class][leak->suppressed];

	if (*row)
		return *row;
	*row = &out->site[out->leaks.nsites++];
	**row = (struct snap_leak_site){
		.class = leak->class, .site = id, .suppressed = leak->suppressed
	};
	return *row;
}

static void leaks_fold(
	struct ignored *g, const struct snapshot *s, uint32_t row, struct leaks_room *out)
{
	struct site_index by_id;

	site_index_make(&by_id, s);
	out->leaks = *s->leaks;
	out->leaks.sites = out->site;
	out->leaks.nsites = 0;
	for (size_t i = 0; i < s->leaks->nsites; i++) {
		const struct snap_leak_site *leak = &s->leaks->sites[i];
		const struct snap_site *site = site_index_find(&by_id, leak->site);

		if (site && is_left_out(g, site))
			leak_add(leak_row(out, row, leak), leak);
		else
			out->site[out->leaks.nsites++] = *leak;
	}
	site_index_free(&by_id);
}

/* ---- the snapshot ------------------------------------------------------------------------ */

/* With the row, if it was made before and there is more; 0: there is nothing to sum up. */
static size_t count_left_out(struct ignored *g, const struct snapshot *s)
{
	size_t count = 0, rows = 0;

	for (size_t i = 0; i < s->nsites; i++) {
		count += is_left_out(g, &s->sites[i]);
		rows += ignored_is_row(&s->sites[i]);
	}
	return count > rows ? count : 0;
}

/* Returns the row, which is the last. */
static struct snap_site *sites_fold(
	struct ignored *g, const struct snapshot *s, struct snap_site *out)
{
	struct snap_site row = { .id = UINT32_MAX };
	struct error_sum errors = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->nsites; i++)
		if (is_left_out(g, &s->sites[i]))
			row_add(&row, &errors, &s->sites[i]);
		else
			out[n++] = s->sites[i];
	row_finish(&row, &errors);
	out[n] = row;
	return &out[n];
}

struct snapshot *ignored_take(struct ignored *g, struct snapshot *s)
{
	size_t leaks = s->leaks && !s->leaks->failed ? s->leaks->nsites : 0, out, shares;
	struct snap_site *sites, *row;
	struct leaks_room *room;
	struct snapshot *made;
	void *more;

	/* A diff's runs were taken before they were compared. */
	if (!g || s->compared)
		return s;
	if (g->owner != s->owner)
		verdicts_forget(g, s->owner);
	out = count_left_out(g, s);
	if (out == 0)
		return s;
	shares = shares_count(g, s);
	made = moment_derive_room(s, s->nsites - out + 1, &sites,
		shares * sizeof(struct snap_share) +
			(leaks ? sizeof(*room) + leaks * sizeof(struct snap_leak_site) : 0),
		&more);
	if (!made)
		return s;
	row = sites_fold(g, s, sites);
	shares_fold(g, s, row, more);
	if (leaks) {
		room = (struct leaks_room *)((struct snap_share *)more + shares);
		leaks_fold(g, s, row->id, room);
		made->leaks = &room->leaks;
	}
	snapshot_unref(s);
	return made;
}
