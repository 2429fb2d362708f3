/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of a history's moments (history.h). Main thread. */
#include "src/record/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/mark_list.h"
#include "src/model/moment.h"
#include "src/model/rates.h"
#include "src/model/scanned_sites.h"
#include "src/record/history_walk.h"
#include "src/record/wrong_rows.h"
#include "src/util/units.h"

/* What `since` needs of a site at the start of a range. */
struct from_site {
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
};

struct from {
	struct from_site *site; /* owned; by id */
	uint32_t room;
	struct state_thread *thread; /* owned; by slot */
	uint32_t threads;
	uint64_t head[STATE_HEAD_MAX];
};

/* The making of a snapshot. */
struct making {
	struct history *h;
	struct snapshot *base;
	const struct moment *asked;
	struct history_moment at;
	size_t from_tick;
	struct from from; /* SNAP_RANGE */
	uint32_t *in_base; /* owned; by id: base_site()'s number of the site + 1, 0: not there */
	uint32_t ids;
	size_t heap, others; /* number of sites */
};

/* ---- the call stacks, by id ---- */

/* The base's sites of all kinds: those of the heap come first. */
static const struct snap_site *base_site(const struct making *m, size_t i)
{
	return i < m->base->nsites ? &m->base->sites[i] : &m->base->mapped[i - m->base->nsites];
}

static int base_index(struct making *m)
{
	size_t n = m->base->nsites + m->base->nmapped;

	for (size_t i = 0; i < n; i++)
		if (base_site(m, i)->id >= m->ids && base_site(m, i)->id < STATE_SITES_MAX)
			m->ids = base_site(m, i)->id + 1;
	m->in_base = calloc(m->ids ? m->ids : 1, sizeof(*m->in_base));
	if (!m->in_base)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (base_site(m, i)->id < m->ids)
			m->in_base[base_site(m, i)->id] = (uint32_t)i + 1;
	return 0;
}

/* Fills in stack, function and kind. False: unknown. */
static bool site_find(const struct making *m, uint32_t id, struct snap_site *out)
{
	const struct history_source *s = &m->h->source;
	const struct snap_site *site;

	if (id >= m->ids || !m->in_base[id])
		return s->site && s->site(s->ctx, id, out);
	site = base_site(m, m->in_base[id] - 1);
	out->stack = site->stack;
	out->alloc_function = site->alloc_function;
	out->kind = site->kind;
	return true;
}

/* Sites that only free are in no list of the base but in this one. */
static bool base_frees_find(const struct making *m, uint32_t id, struct snap_site *out)
{
	for (size_t i = 0; i < m->base->nwrong; i++) {
		const struct snap_wrong_free *f = &m->base->wrong[i];

		out->stack = f->site == id ? f->stack : f->first_site == id ? f->first_stack : NULL;
		out->alloc_function = f->site == id ? f->freed_by : f->first_freed_by;
		if (out->stack)
			return true;
	}
	return false;
}

/* ---- sites ---- */

static uint64_t sample_of(const struct history_sample *s, uint32_t id)
{
	return id < s->room ? s->live_bytes[id] : 0;
}

static void trend_fill(const struct history_moment *at, struct snap_site *site)
{
	site->trend[SNAP_TREND_POINTS - 1] = site->live_bytes;
	site->trend_points = 1;
	for (unsigned i = 0; i < at->trends && at->trend[i].live_bytes; i++) {
		if (i + 1 >= SNAP_TREND_POINTS)
			break;
		site->trend[SNAP_TREND_POINTS - 2 - i] = sample_of(&at->trend[i], site->id);
		site->trend_points++;
	}
}

static uint64_t increase(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void since_fill(const struct from *from, struct snap_site *site)
{
	struct from_site f = { 0 };

	if (site->id < from->room)
		f = from->site[site->id];
	site->since = (struct snap_since){ .bytes = (int64_t)(site->live_bytes - f.live_bytes),
		.blocks = (int64_t)(site->live_blocks - f.live_blocks),
		.allocs = increase(site->allocs, f.allocs),
		.alloc_bytes = increase(site->alloc_bytes, f.alloc_bytes) };
}

static struct rates_window rates_of(const struct making *m, bool ended)
{
	return (struct rates_window){
		.valid = m->at.window.valid && !ended, .seconds = m->at.window.seconds, .keep = -1
	};
}

static void site_fill(struct making *m, uint32_t id, struct rates_window w, struct snap_site *out)
{
	const struct history_moment *at = &m->at;

	out->id = id;
	state_site_give(&at->state.site[id], at->state.more ? &at->state.more[id] : NULL, out);
	rates_site(w, sample_of(&at->window.live, id), sample_of(&at->window.allocs, id), out);
	trend_fill(at, out);
	if (m->asked->kind == SNAP_RANGE)
		since_fill(&m->from, out);
}

/* How many sites of the heap, and of other kinds, there are. */
static void sites_known(struct making *m)
{
	const struct state *state = &m->at.state;
	struct snap_site site = { 0 };

	for (uint32_t id = state_site_next(state, 0); id < state->room;
		id = state_site_next(state, id + 1)) {
		if (!site_find(m, id, &site))
			continue;
		m->heap += site.kind == SNAP_HEAP;
		m->others += site.kind != SNAP_HEAP;
	}
}

static void sites_fill(struct making *m, const struct snapshot *s, struct snap_site *sites)
{
	struct rates_window w = rates_of(m, snapshot_ended(s));
	struct snap_site *heap = sites, *other = sites + m->heap;
	const struct state *state = &m->at.state;
	struct snap_site found = { 0 }, *out;

	for (uint32_t id = state_site_next(state, 0); id < state->room;
		id = state_site_next(state, id + 1)) {
		if (!site_find(m, id, &found))
			continue;
		out = found.kind == SNAP_HEAP ? heap++ : other++;
		out->stack = found.stack;
		out->alloc_function = found.alloc_function;
		out->kind = found.kind;
		site_fill(m, id, w, out);
	}
}

/* ---- wrong frees ---- */

static const struct stack *wrong_stack(const struct making *m, uint32_t id, const char **function)
{
	struct snap_site site = { 0 };

	if (id == 0 || !(site_find(m, id, &site) || base_frees_find(m, id, &site)))
		return NULL;
	*function = site.alloc_function;
	return site.stack;
}

/* There is room for all of them at `rows`. */
static void wrong_fill(const struct making *m, struct snapshot *s, struct snap_wrong_free *rows)
{
	const struct bytes *packed = &m->at.state.wrong;

	s->wrong = s->totals.has_wrong ? rows : NULL;
	s->nwrong = s->wrong ? wrong_rows_get(packed, rows, wrong_rows_count(packed)) : 0;
	for (size_t i = 0; i < s->nwrong; i++) {
		struct snap_wrong_free *f = &rows[i];

		f->stack = wrong_stack(m, f->site, &f->freed_by);
		f->alloc_stack = wrong_stack(m, f->alloc_site, &f->allocated_by);
		f->first_stack = wrong_stack(m, f->first_site, &f->first_freed_by);
	}
}

/* ---- the rest ---- */

static void thread_rates(
	const struct history_window *w, struct rates_window r, struct snap_thread *t)
{
	static const struct state_thread none;
	const struct state_thread *before = t->slot < w->threads ? &w->thread[t->slot] : &none;

	t->allocs_per_s = rates_frequency(r, before->n[STATE_THREAD_ALLOCS], t->allocs);
	t->frees_per_s = rates_frequency(r, before->n[STATE_THREAD_FREES], t->frees);
}

static void threads_fill(struct making *m, struct snapshot *s, struct snap_thread *threads)
{
	const struct state *state = &m->at.state;
	struct rates_window w = rates_of(m, snapshot_ended(s));

	s->threads = threads;
	s->nthreads = 0;
	for (uint32_t slot = 0; slot < state->thread_room; slot++) {
		if (!state->thread[slot].present)
			continue;
		state_thread_give(&state->thread[slot], slot, &threads[s->nthreads]);
		thread_rates(&m->at.window, w, &threads[s->nthreads++]);
	}
}

static void totals_rates(const struct making *m, struct snapshot *s)
{
	struct rates_window w = rates_of(m, snapshot_ended(s));
	struct snapshot before = { .proc.valid = true };
	struct rates *r = calloc(1, sizeof(*r));

	s->rates_ns = w.valid ? (uint64_t)(w.seconds * 1e9) : 0;
	s->viewer_cpu_percent = 0;
	if (!r)
		return;
	if (m->at.window.thread)
		state_head_give(m->at.window.head, &before);
	r->reading[0].totals = before.totals;
	r->reading[0].proc = before.proc;
	rates_totals(r, w, s);
	if (w.valid && s->viewer_cpu_ns > before.viewer_cpu_ns)
		s->viewer_cpu_percent =
			(double)(s->viewer_cpu_ns - before.viewer_cpu_ns) / 1e7 / w.seconds;
	free(r);
}

/* The graph of the program's life ends at the moment. */
static void graph_cut(struct snapshot *s, uint64_t base_ns)
{
	uint64_t later = base_ns > s->uptime_ns ? base_ns - s->uptime_ns : 0, cut;

	if (s->history_step_ns == 0 || s->history_points == 0)
		return;
	/* Its last point may be older than the base: nothing changed since. */
	cut = (base_ns + s->history_step_ns - 1) / s->history_step_ns;
	if (cut > s->history_points)
		later = increase(later, (cut - s->history_points) * s->history_step_ns);
	cut = later / s->history_step_ns;
	s->history_points -= cut < s->history_points ? (unsigned)cut : s->history_points - 1;
}

static void marks_later_cut(struct snapshot *s)
{
	while (s->moments && s->moments->ns > s->uptime_ns)
		s->moments = s->moments->before;
}

/* The span between two marks that the base shows, as far as the moment. */
static void marks_cut(struct snapshot *s, struct snap_site *sites)
{
	if (s->since && s->since->ns > s->uptime_ns)
		s->since = NULL;
	if (!s->since || (s->until && s->until->ns > s->uptime_ns))
		s->until = NULL;
	s->newest = s->moments ? mark_list_between(s, s->moments, NULL) : (struct snap_since){ 0 };
	mark_list_apply(s, sites);
}

/* The start of a range as the mark from which `since` counts: number 0, named by its time. */
static void range_mark(const struct making *m, struct snapshot *s, const struct snapshot *then,
	struct snap_mark *mark)
{
	uint64_t ns = m->h->points[m->from_tick].ns;
	char text[UNITS_MAX];

	*mark = (struct snap_mark){ .ns = ns,
		.live_bytes = then->totals.live_bytes,
		.live_blocks = then->totals.live_blocks,
		.allocs = then->totals.allocs,
		.alloc_bytes = then->totals.alloc_bytes };
	strcpy(mark->name, units_duration(text, ns));
	s->since = mark;
	s->until = NULL;
	s->range_from_ns = ns;
}

/* What follows the sites in the snapshot's memory. */
struct rest {
	struct snap_mark mark;
	struct snap_range range;
	struct snap_thread
		threads[]; /* twice as many: then, and in a range; then the wrong frees */
};

/* A slot that was not in use then begins with nothing. */
static void thread_in_range(const struct from *from, struct snap_thread *t)
{
	struct snap_thread then = { 0 };

	if (t->slot < from->threads && from->thread[t->slot].present)
		state_thread_give(&from->thread[t->slot], t->slot, &then);
	t->allocs = increase(t->allocs, then.allocs);
	t->frees = increase(t->frees, then.frees);
	t->alloc_bytes = increase(t->alloc_bytes, then.alloc_bytes);
	t->free_bytes = increase(t->free_bytes, then.free_bytes);
	t->foreign_frees = increase(t->foreign_frees, then.foreign_frees);
	t->foreign_bytes = increase(t->foreign_bytes, then.foreign_bytes);
}

static void range_fill(const struct making *m, struct snapshot *s, struct rest *rest)
{
	struct snap_thread *threads = rest->threads + m->at.state.threads;
	struct snapshot then = { 0 };

	state_head_give(m->from.head, &then);
	range_mark(m, s, &then, &rest->mark);
	snapshot_range_histograms(&then, s, &rest->range);
	for (size_t i = 0; i < s->nthreads; i++) {
		threads[i] = s->threads[i];
		thread_in_range(&m->from, &threads[i]);
	}
	rest->range.threads = threads;
	s->range = &rest->range;
}

static void snapshot_fill(struct making *m, struct snapshot *s, struct rest *rest)
{
	const struct history_source *source = &m->h->source;
	struct snap_wrong_free *wrong =
		(struct snap_wrong_free *)&rest->threads[2 * (size_t)m->at.state.threads];
	char *notice = (char *)(wrong + wrong_rows_count(&m->at.state.wrong));

	s->moment = m->asked->kind;
	state_head_give(m->at.state.head, s);
	s->uptime_ns = m->h->points[m->at.tick].ns;
	s->now_realtime_ns = s->start_realtime_ns + s->uptime_ns;
	if (s->state != SNAP_KILLED || s->signal != m->base->signal)
		s->signal_name = NULL;
	moment_clear_present(s);
	s->alive_bytes = 0;
	s->newest = (struct snap_since){ 0 };
	s->children = NULL;
	s->nchildren = 0;
	if (source->leaks)
		s->leaks = source->leaks(source->ctx, s->uptime_ns);
	s->notice = NULL;
	if (m->at.state.notice)
		s->notice = strcpy(notice, m->at.state.notice);
	graph_cut(s, m->base->uptime_ns);
	totals_rates(m, s);
	threads_fill(m, s, rest->threads);
	wrong_fill(m, s, wrong);
}

static struct snapshot *snapshot_make(struct making *m)
{
	size_t notice = m->at.state.notice ? strlen(m->at.state.notice) + 1 : 0;
	struct snap_site *sites;
	struct snapshot *s;
	void *room;

	sites_known(m);
	s = moment_derive_room(m->base, m->heap + m->others, &sites,
		sizeof(struct rest) + 2 * m->at.state.threads * sizeof(struct snap_thread) +
			wrong_rows_count(&m->at.state.wrong) * sizeof(struct snap_wrong_free) +
			notice,
		&room);
	if (!s)
		return NULL;
	s->nsites = m->heap;
	snapshot_fill(m, s, room);
	s->mapped = sites + m->heap;
	s->nmapped = m->others;
	sites_fill(m, s, sites);
	scanned_sites_apply(s->leaks, s);
	marks_later_cut(s);
	if (m->asked->kind == SNAP_RANGE)
		range_fill(m, s, room);
	else
		marks_cut(s, sites);
	return s;
}

/* ---- the start of a range ---- */

static int from_each(void *ctx, size_t tick, const struct state *s)
{
	struct from *f = ctx;

	memcpy(f->head, s->head, sizeof(f->head));
	f->site = calloc(s->room ? s->room : 1, sizeof(*f->site));
	if (!f->site)
		return -ENOMEM;
	f->room = s->room;
	f->thread = malloc((s->thread_room ? s->thread_room : 1) * sizeof(*f->thread));
	if (!f->thread)
		return -ENOMEM;
	f->threads = s->thread_room;
	if (s->thread_room)
		memcpy(f->thread, s->thread, s->thread_room * sizeof(*f->thread));
	for (uint32_t id = state_site_next(s, 0); id < s->room; id = state_site_next(s, id + 1)) {
		struct snap_site site = { 0 };

		state_site_give(&s->site[id], s->more ? &s->more[id] : NULL, &site);
		f->site[id] = (struct from_site){ site.live_bytes, site.live_blocks, site.allocs,
			site.alloc_bytes };
	}
	return 0;
}

static int making_read(struct making *m)
{
	struct history *h = m->h;
	size_t tick = timeline_index(history_timeline(h), m->asked->ns);
	int rc = history_moment_read(h, tick, &m->at);

	if (rc || m->asked->kind != SNAP_RANGE)
		return rc;
	m->from_tick = timeline_index(history_timeline(h), m->asked->from_ns);
	if (m->from_tick > tick)
		m->from_tick = tick;
	return history_walk(h, m->from_tick, m->from_tick, from_each, &m->from);
}

static int making_run(struct making *m, struct snapshot **out)
{
	int rc = making_read(m);

	if (!rc)
		rc = base_index(m);
	if (!rc)
		*out = snapshot_make(m);
	return rc ? rc : *out ? 0 : -ENOMEM;
}

/* As of the mark that is asked for. Drops a reference to `s`. */
static struct snapshot *mark_take(struct snapshot *base, struct snapshot *s, unsigned number)
{
	const struct snap_mark *mark = base->moments;
	struct snapshot *made;

	while (mark && mark->number != number)
		mark = mark->before;
	if (!mark)
		return s;
	made = moment_mark(base, s, mark);
	snapshot_unref(s);
	return made;
}

struct snapshot *history_snapshot(
	struct history *h, struct snapshot *base, const struct moment *asked)
{
	struct making *m = calloc(1, sizeof(*m));
	struct snapshot *s = NULL;
	int rc = m ? -ENODATA : -ENOMEM;

	if (m && h->npoints && (asked->kind == SNAP_PAST || asked->kind == SNAP_RANGE)) {
		*m = (struct making){ .h = h, .base = base, .asked = asked };
		rc = making_run(m, &s);
	}
	if (m) {
		history_moment_free(&m->at);
		free(m->from.site);
		free(m->from.thread);
		free(m->in_base);
	}
	free(m);
	if (s && asked->mark)
		return mark_take(base, s, asked->mark);
	if (rc)
		errno = -rc;
	return s;
}
