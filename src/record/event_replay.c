/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays a recording of all events up to one moment (event_replay.h). Twice: only when the first
 * time is over it is known which event was the peak, and the second time stops there. One thread.
 */
#include "src/record/event_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/event_blocks.h"

struct replaying {
	struct event_replay *p;
	const struct event_recording *recording;
	uint32_t stream;
	uint64_t until_tick, until_event;
	uint64_t events; /* number of events so far */
	uint64_t last_block[EVENT_SLOTS_MAX]; /* number + 1 of the thread's last event, if it
						 allocated */
	struct event_blocks births; /* by number + 1; their sites are numbers of event_threads */
	bool failed;
};

static uint64_t event_ns(uint64_t tick)
{
	return tick << EVENT_TICK_SHIFT;
}

/* Point i of the history is the largest value in [i, i + 1) steps; when all are used, neighbours
 * are joined. */
static void history_note(struct event_replay *p, uint64_t ns)
{
	unsigned at;

	while (ns / p->history_step_ns >= SNAP_HISTORY_POINTS) {
		for (unsigned i = 0; i < SNAP_HISTORY_POINTS / 2; i++) {
			uint64_t a = p->history[2 * i], b = p->history[2 * i + 1];

			p->history[i] = a > b ? a : b;
		}
		memset(p->history + SNAP_HISTORY_POINTS / 2, 0, sizeof(p->history) / 2);
		p->history_points = (p->history_points + 1) / 2;
		p->history_step_ns *= 2;
	}
	at = (unsigned)(ns / p->history_step_ns);
	/* Between two events nothing changes. */
	for (unsigned i = p->history_points; i > 0 && i < at; i++)
		p->history[i] = p->history[i - 1];
	if (at >= p->history_points || p->live_bytes > p->history[at])
		p->history[at] = p->live_bytes;
	if (at >= p->history_points)
		p->history_points = at + 1;
}

static void alloc_count(struct replaying *r, const struct event *e, struct event_site *s)
{
	struct event_replay *p = r->p;
	struct snap_size *size = &p->sizes[snap_size_bucket(e->size)];

	s->live_bytes += e->size;
	s->live_blocks++;
	p->live_bytes += e->size;
	p->live_blocks++;
	size->live_bytes += e->size;
	size->live_blocks++;
	if (s->live_bytes > s->peak_bytes)
		s->peak_bytes = s->live_bytes;
	s->allocs++;
	s->alloc_bytes += e->size;
	p->allocs++;
	p->alloc_bytes += e->size;
	size->allocs++;
	if (p->live_bytes <= p->peak_bytes)
		return;
	p->peak_bytes = p->live_bytes;
	p->peak_blocks = p->live_blocks;
	p->peak_ns = event_ns(e->tick);
	p->peak_event = r->events;
}

static void free_count(struct replaying *r, const struct event *e, struct event_site *s)
{
	struct event_replay *p = r->p;
	struct snap_size *size = &p->sizes[snap_size_bucket(e->size)];

	s->live_bytes -= e->size;
	s->live_blocks--;
	p->live_bytes -= e->size;
	p->live_blocks--;
	size->live_bytes -= e->size;
	size->live_blocks--;
	s->frees++;
	p->frees++;
	p->free_bytes += e->size;
	if (r->last_block[e->slot] != e->number + 1)
		return;
	s->temporary++;
	p->temporary++;
}

static void life_count(struct replaying *r, const struct event *e)
{
	struct event_block *b = event_blocks_find(&r->births, e->number + 1);

	event_threads_free(&r->p->threads, e, b ? b->site : EVENT_SHARE_NONE);
	if (!b)
		return;
	r->p->lifetimes[snap_life_bucket(event_ns(e->tick - b->tick))]++;
	event_blocks_remove(&r->births, b);
}

static void event_replay_one(void *ctx, const struct event *e)
{
	struct replaying *r = ctx;
	struct event_block b = { .key = e->number + 1, .tick = e->tick };
	uint32_t site;

	if (e->tick > r->until_tick || r->events >= r->until_event)
		return;
	r->events++;
	if (e->kind == EVENT_LOST) {
		r->p->lost += e->number;
		return;
	}
	site = event_read_site_index(r->recording, r->stream, e->site);
	if (site >= r->p->nsites)
		return; /* damage: its stack is missing */
	if (e->kind == EVENT_FREE) {
		free_count(r, e, &r->p->sites[site]);
		life_count(r, e);
		r->last_block[e->slot] = 0;
	} else {
		alloc_count(r, e, &r->p->sites[site]);
		if (e->kind == EVENT_ALLOC) {
			b.site = event_threads_alloc(&r->p->threads, e, site);
			r->failed |= b.site == EVENT_SHARE_NONE;
		}
		r->failed |= !event_blocks_add(&r->births, &b);
		r->last_block[e->slot] = e->kind == EVENT_ALLOC ? e->number + 1 : 0;
	}
	history_note(r->p, event_ns(e->tick));
}

/* Up to the peak: only what is live. */
struct peak_search {
	struct event_replay *p;
	const struct event_recording *recording;
	uint32_t stream;
	uint64_t events;
};

static void event_peak_one(void *ctx, const struct event *e)
{
	struct peak_search *r = ctx;
	struct event_site *s;
	uint32_t site;

	if (r->events >= r->p->peak_event)
		return;
	r->events++;
	site = e->kind == EVENT_LOST ? UINT32_MAX
				     : event_read_site_index(r->recording, r->stream, e->site);
	if (site >= r->p->nsites)
		return;
	s = &r->p->sites[site];
	s->at_peak_bytes += e->kind == EVENT_FREE ? 0 - e->size : e->size;
	s->at_peak_blocks += e->kind == EVENT_FREE ? UINT64_MAX : 1;
}

int event_replay_run(struct event_recording *r, uint32_t stream, struct event_until until,
	struct event_replay *out)
{
	struct replaying *first = calloc(1, sizeof(*first));
	struct peak_search second = { .p = out, .recording = r, .stream = stream };
	const struct event_sink forward = { first, event_replay_one },
				to_peak = { &second, event_peak_one };
	int rc = -ENOMEM;

	*out = (struct event_replay){ .nsites = event_read_sites(r, stream),
		.history_step_ns = 1u << EVENT_TICK_SHIFT,
		.ns = until.ns };
	out->sites = calloc(out->nsites + 1, sizeof(*out->sites));
	if (first && out->sites && event_threads_begin(&out->threads) == 0) {
		first->p = out;
		first->recording = r;
		first->stream = stream;
		first->until_tick = until.ns >> EVENT_TICK_SHIFT;
		first->until_event = until.events;
		rc = event_read_each(r, stream, &forward);
		if (first->failed)
			rc = -ENOMEM;
		event_blocks_free(&first->births);
	}
	if (rc == 0)
		rc = event_read_each(r, stream, &to_peak);
	free(first);
	if (rc != 0)
		event_replay_free(out);
	return rc;
}

void event_replay_free(struct event_replay *p)
{
	event_threads_end(&p->threads);
	free(p->sites);
	p->sites = NULL;
}
