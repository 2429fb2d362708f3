/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A moment of a recording of all events as a snapshot (event_snapshot.h). Main thread. */
#include "src/record/event_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/event_detail.h"
#include "src/util/units.h"

/* Owns what a snapshot points to; except what is the recording's. */
struct owner {
	struct event_replay replay;
	struct snap_site *sites;
	struct snap_thread *threads; /* and behind them those of a range */
	struct snap_share *shares;
	struct snapshot **children;
	size_t nchildren;
	struct event_recording *kept; /* or NULL */
	struct event_recording *recording; /* this is a moment of, while it is open: */
	uint32_t stream;
	struct event_until until;
	struct snap_mark from; /* where a range begins */
	struct snap_range range; /* and what happened in it */
	char notice[160];
};

static void owner_free(void *ctx)
{
	struct owner *o = ctx;

	for (size_t i = 0; i < o->nchildren; i++)
		snapshot_unref(o->children[i]);
	event_replay_free(&o->replay);
	free(o->sites);
	free(o->threads);
	free(o->shares);
	free(o->children);
	event_read_free(o->kept);
	free(o);
}

void event_snapshot_keep(struct snapshot *s, struct event_recording *r)
{
	struct owner *o = s->owner;

	o->kept = r;
}

static bool site_is_used(const struct event_site *s)
{
	return s->allocs > 0;
}

static size_t sites_fill(struct event_recording *r, uint32_t stream, const struct event_replay *p,
	struct snap_site *out)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->nsites; i++) {
		const struct event_site *s = &p->sites[i];
		const char *function;
		uint32_t id = event_read_site_id(r, stream, i);
		const struct stack *stack =
			site_is_used(s) ? event_read_stack(r, stream, id, &function) : NULL;

		if (!stack)
			continue;
		out[count++] = (struct snap_site){ .id = id,
			.alloc_function = function,
			.stack = stack,
			.live_bytes = s->live_bytes,
			.live_blocks = s->live_blocks,
			.allocs = s->allocs,
			.frees = s->frees,
			.alloc_bytes = s->alloc_bytes,
			.peak_live_bytes = s->peak_bytes,
			.at_peak_bytes = s->at_peak_bytes,
			.at_peak_blocks = s->at_peak_blocks,
			.temporary = s->temporary };
	}
	return count;
}

/* ---- threads ---- */

static bool thread_is_used(const struct event_thread *t)
{
	return t->allocs > 0 || t->frees > 0;
}

/* Name and thread of a slot, as of the recording's end. */
static struct snap_thread thread_named(const struct event_about *a, uint32_t slot)
{
	for (size_t i = 0; i < a->nthreads; i++)
		if (a->threads[i].slot == slot)
			return a->threads[i];
	return (struct snap_thread){ .slot = slot, .owners = 1 };
}

static size_t threads_used(const struct event_threads *t)
{
	size_t count = 0;

	for (uint32_t slot = 0; slot < EVENT_SLOTS_MAX; slot++)
		count += thread_is_used(&t->thread[slot]);
	return count;
}

static void threads_fill(
	const struct event_threads *t, const struct event_about *a, struct snap_thread *out)
{

	for (uint32_t slot = 0; slot < EVENT_SLOTS_MAX; slot++) {
		const struct event_thread *from = &t->thread[slot];

		if (!thread_is_used(from))
			continue;
		*out = thread_named(a, slot);
		out->allocs = from->allocs;
		out->frees = from->frees;
		out->alloc_bytes = from->alloc_bytes;
		out->free_bytes = from->free_bytes;
		out->foreign_frees = from->foreign_frees;
		out->foreign_bytes = from->foreign_bytes;
		out->live_blocks = from->live_blocks;
		out->live_bytes = from->live_bytes;
		out++;
	}
}

static const char *name_of(const struct snapshot *s, uint32_t slot)
{
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].slot == slot)
			return s->threads[i].name;
	return "";
}

/* Those of one site are side by side, as the sites are. */
static void shares_fill(struct event_recording *r, uint32_t stream, const struct event_threads *t,
	struct owner *o, struct snapshot *s)
{
	uint32_t *first = calloc(o->replay.nsites + 1u, sizeof(*first)), at = 0, i;

	if (!first)
		return;
	for (size_t k = 0; k < t->nshares; k++)
		first[t->share[k].site + 1]++;
	for (i = 0; i < o->replay.nsites; i++)
		first[i + 1] += first[i];
	for (size_t k = 0; k < s->nsites; k++) {
		i = event_read_site_index(r, stream, s->sites[k].id);
		o->sites[k].share = o->shares + first[i];
		o->sites[k].shares = first[i + 1] - first[i];
	}
	for (size_t k = 0; k < t->nshares; k++) {
		const struct event_share *from = &t->share[k];

		at = first[from->site]++;
		o->shares[at] =
			(struct snap_share){ .site = event_read_site_id(r, stream, from->site),
				.thread = name_of(s, from->slot),
				.slot = from->slot,
				.allocs = from->allocs,
				.alloc_bytes = from->alloc_bytes,
				.live_blocks = from->live_blocks,
				.live_bytes = from->live_bytes };
	}
	s->shares = o->shares;
	s->nshares = t->nshares;
	s->has_alive = true;
	s->alive_bytes = o->replay.live_bytes;
	free(first);
}

/* 0 or -ENOMEM. Ends the replay's own: of thousands of processes it would be too much. */
static int by_thread_fill(struct event_recording *r, uint32_t stream, struct snapshot *s)
{
	struct owner *o = s->owner;
	struct event_threads *t = &o->replay.threads;
	size_t count = threads_used(t);

	o->threads = calloc(2 * count + 1, sizeof(*o->threads));
	o->shares = calloc(t->nshares + 1, sizeof(*o->shares));
	if (!o->threads || !o->shares)
		return -ENOMEM;
	s->threads = o->threads;
	s->nthreads = count;
	threads_fill(t, event_read_about(r, stream), o->threads);
	shares_fill(r, stream, t, o, s);
	event_threads_end(t);
	return 0;
}

/* ---- a range ---- */

static uint64_t increase(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void since_fill(struct event_recording *r, uint32_t stream, const struct event_replay *from,
	struct snap_site *site)
{
	static const struct event_site none;
	uint32_t i = event_read_site_index(r, stream, site->id);
	const struct event_site *before = i < from->nsites ? &from->sites[i] : &none;

	site->since =
		(struct snap_since){ .bytes = (int64_t)(site->live_bytes - before->live_bytes),
			.blocks = (int64_t)(site->live_blocks - before->live_blocks),
			.allocs = increase(site->allocs, before->allocs),
			.alloc_bytes = increase(site->alloc_bytes, before->alloc_bytes) };
}

/* What the threads did in it: by index as in the snapshot. */
static const struct snap_thread *threads_since(
	const struct event_threads *from, const struct snapshot *s)
{
	const struct owner *o = s->owner;
	struct snap_thread *out = o->threads + s->nthreads;

	for (size_t i = 0; i < s->nthreads; i++) {
		const struct event_thread *then = &from->thread[s->threads[i].slot];

		out[i] = s->threads[i];
		out[i].allocs = increase(out[i].allocs, then->allocs);
		out[i].frees = increase(out[i].frees, then->frees);
		out[i].alloc_bytes = increase(out[i].alloc_bytes, then->alloc_bytes);
		out[i].free_bytes = increase(out[i].free_bytes, then->free_bytes);
		out[i].foreign_frees = increase(out[i].foreign_frees, then->foreign_frees);
		out[i].foreign_bytes = increase(out[i].foreign_bytes, then->foreign_bytes);
	}
	return out;
}

/* The range begins as a mark without a number, as in histories. */
static void range_fill(struct event_recording *r, uint32_t stream, const struct event_replay *from,
	struct snapshot *s)
{
	struct owner *o = s->owner;
	struct snapshot then = { 0 };
	char text[UNITS_MAX];

	for (size_t i = 0; i < s->nsites; i++)
		since_fill(r, stream, from, &o->sites[i]);
	o->from = (struct snap_mark){ .ns = from->ns,
		.live_bytes = from->live_bytes,
		.live_blocks = from->live_blocks,
		.allocs = from->allocs,
		.alloc_bytes = from->alloc_bytes };
	strcpy(o->from.name, units_duration(text, from->ns));
	memcpy(then.sizes, from->sizes, sizeof(then.sizes));
	memcpy(then.lifetimes, from->lifetimes, sizeof(then.lifetimes));
	snapshot_range_histograms(&then, s, &o->range);
	o->range.threads = threads_since(&from->threads, s);
	s->range = &o->range;
	s->moment = SNAP_RANGE;
	s->range_from_ns = from->ns;
	s->since = &o->from;
}

/* An image that began later begins with nothing. */
static int range_begin(
	struct event_recording *r, uint32_t stream, uint64_t from_ns, struct snapshot *s)
{
	struct event_replay from = { 0 };
	int rc = event_replay_run(r, stream, EVENT_UNTIL_NS(from_ns), &from);

	if (rc == 0)
		range_fill(r, stream, &from, s);
	event_replay_free(&from);
	return rc;
}

/* ---- one moment ---- */

static struct snap_totals totals_of(const struct event_replay *p, const struct event_about *a)
{
	return (struct snap_totals){ .allocs = p->allocs,
		.frees = p->frees,
		.no_reallocs = true,
		.alloc_bytes = p->alloc_bytes,
		.free_bytes = p->free_bytes,
		.live_blocks = p->live_blocks,
		.live_bytes = p->live_bytes,
		.peak_live_bytes = p->peak_bytes,
		.peak_ns = p->peak_ns,
		.at_peak_bytes = p->peak_bytes,
		.at_peak_blocks = p->peak_blocks,
		.has_at_peak = true,
		.temporary = p->temporary,
		.missed_frees = a->missed_frees,
		.unknown_frees = a->unknown_frees,
		.lost_events = p->lost };
}

static const char *notice_make(
	struct owner *o, const struct event_about *a, const struct event_replay *p)
{
	char lost[UNITS_MAX + 8];

	if (p->lost > 0)
		snprintf(o->notice, sizeof(o->notice),
			"%s event%s lost before this moment: figures are not exact",
			units_exact(lost, p->lost), p->lost == 1 ? " was" : "s were");
	else if (a->damaged)
		snprintf(o->notice, sizeof(o->notice),
			"parts of the recording are damaged and left out");
	else if (a->cut || !a->ended)
		snprintf(o->notice, sizeof(o->notice),
			"the recording was cut off: this is its last complete moment");
	return o->notice[0] ? o->notice : NULL;
}

static void snapshot_fill(
	struct snapshot *s, struct owner *o, const struct event_about *a, bool whole)
{
	const struct event_replay *p = &o->replay;

	*s = (struct snapshot){ .refs = 1,
		.owner = o,
		.release = owner_free,
		.moment = whole ? SNAP_NOW : SNAP_PAST,
		.pid = a->pid,
		.command = a->command,
		.argv = a->argv,
		.argc = a->argc,
		.exe = a->exe,
		.state = whole ? a->state : SNAP_RUNNING,
		.exit_status = whole ? a->exit_status : -1,
		.signal = whole ? a->signal : 0,
		.signal_name = whole ? a->signal_name : NULL,
		.start_realtime_ns = a->start_realtime_ns,
		.now_realtime_ns = a->start_realtime_ns + p->ns,
		.uptime_ns = p->ns,
		.newest_ns = a->ended_ns,
		.totals = totals_of(p, a),
		.history_points = p->history_points,
		.history_step_ns = p->history_step_ns,
		.sites = o->sites,
		.notice = notice_make(o, a, p) };
	memcpy(s->sizes, p->sizes, sizeof(s->sizes));
	memcpy(s->lifetimes, p->lifetimes, sizeof(s->lifetimes));
	memcpy(s->history, p->history, sizeof(s->history));
}

/* One image. Its end, for a file without one, is its last event. */
static struct snapshot *image_snapshot(
	struct event_recording *r, uint32_t stream, struct event_until at)
{
	const struct event_about *a = event_read_about(r, stream);
	struct snapshot *s = malloc(sizeof(*s));
	struct owner *o = calloc(1, sizeof(*o));
	bool whole = at.events == UINT64_MAX &&
		     (at.ns == UINT64_MAX || (a->ended && at.ns >= a->ended_ns));

	if (whole)
		at.ns = UINT64_MAX;
	if (!s || !o || event_replay_run(r, stream, at, &o->replay) != 0) {
		free(s);
		free(o);
		errno = ENOMEM;
		return NULL;
	}
	o->recording = r;
	o->stream = stream;
	o->until = at;
	if (whole)
		o->replay.ns = a->ended ? a->ended_ns
					: o->replay.history_points * o->replay.history_step_ns;
	o->sites = calloc(o->replay.nsites + 1, sizeof(*o->sites));
	snapshot_fill(s, o, a, whole);
	if (o->sites)
		s->nsites = sites_fill(r, stream, &o->replay, o->sites);
	if (!o->sites || by_thread_fill(r, stream, s) != 0) {
		snapshot_unref(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

/* The same, with the range from `from_ns` (UINT64_MAX: none). */
static struct snapshot *image_range(
	struct event_recording *r, uint32_t stream, uint64_t from_ns, struct event_until at)
{
	struct snapshot *s = image_snapshot(r, stream, at);

	if (!s || from_ns == UINT64_MAX || range_begin(r, stream, from_ns, s) == 0)
		return s;
	snapshot_unref(s);
	errno = ENOMEM;
	return NULL;
}

/* Time in an image, from that in the one that is shown. False: it had not begun. */
static bool image_time(const struct event_recording *r, uint32_t stream, uint32_t shown,
	uint64_t at_ns, uint64_t *out)
{
	uint64_t start = event_read_about(r, stream)->start_realtime_ns,
		 at = event_read_about(r, shown)->start_realtime_ns + at_ns;

	*out = at_ns == UINT64_MAX ? at_ns : at - start;
	return at_ns == UINT64_MAX || at >= start;
}

uint32_t event_snapshot_stream(const struct event_recording *r)
{
	uint32_t shown = 0;

	for (uint32_t i = 1; i < event_read_streams(r); i++)
		if (event_read_about(r, i)->pid == event_read_about(r, 0)->pid)
			shown = i;
	return shown;
}

static int children_add(struct event_recording *r, uint32_t shown, uint64_t from_ns, uint64_t at_ns,
	struct owner *o)
{
	uint32_t count = event_read_streams(r);
	uint64_t at, from;

	o->children = calloc(count, sizeof(struct snapshot *));
	if (!o->children)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (i == shown || !image_time(r, i, shown, at_ns, &at))
			continue;
		if (!image_time(r, i, shown, from_ns, &from))
			from = 0;
		o->children[o->nchildren] = image_range(r, i, from, EVENT_UNTIL_NS(at));
		if (!o->children[o->nchildren])
			return -ENOMEM;
		o->nchildren++;
	}
	return 0;
}

static struct snapshot *all_snapshot(
	struct event_recording *r, uint64_t from_ns, struct event_until at)
{
	uint32_t shown = event_snapshot_stream(r);
	struct snapshot *s = image_range(r, shown, from_ns, at);
	struct owner *o;

	if (!s)
		return NULL;
	o = s->owner;
	if (children_add(r, shown, from_ns, at.ns, o) != 0) {
		snapshot_unref(s);
		errno = ENOMEM;
		return NULL;
	}
	s->children = (const struct snapshot *const *)o->children;
	s->nchildren = o->nchildren;
	return s;
}

struct snapshot *event_snapshot(struct event_recording *r, uint64_t at_ns)
{
	return all_snapshot(r, UINT64_MAX, EVENT_UNTIL_NS(at_ns));
}

struct snapshot *event_snapshot_range(struct event_recording *r, uint64_t from_ns, uint64_t at_ns)
{
	return all_snapshot(r, from_ns, EVENT_UNTIL_NS(at_ns));
}

struct snapshot *event_snapshot_peak(struct event_recording *r, const struct snapshot *s)
{
	const struct event_replay *p = &((const struct owner *)s->owner)->replay;

	return all_snapshot(r, UINT64_MAX, (struct event_until){ p->peak_ns, p->peak_event });
}

int event_snapshot_detail(const struct snapshot *s, uint32_t site, struct snap_detail *out)
{
	const struct owner *o = s->owner;

	if (s->release != owner_free || s->base)
		return -ENODATA;
	return event_detail_read(o->recording, o->stream, o->until, s->uptime_ns, site, out);
}
