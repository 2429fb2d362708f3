/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes snapshots from raw counters. The session calls this once a tick, on the main thread. It
 * keeps the past of each site: its recent live bytes for the trend, its values at the readings for
 * rates (rates.h), its spans for growth (growth.h). That is at most 950 bytes per site, and 300 of
 * one that had nothing live at any tick. A tick costs O(sites).
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/interval.h"
#include "src/model/model.h"
#include "src/model/rates.h"
#include "src/model/stacks.h"
#include "src/model/thread_rates.h"
#include "src/util/array.h"
#include "src/util/shortage.h"

/* A site's live bytes at recent ticks. */
struct past_live {
	uint64_t trend[SNAP_TREND_POINTS]; /* ring, see model_trend */
	uint64_t reading[RATES_READINGS]; /* ring, parallel to rates.reading */
	struct growth_site growth;
};

/* A site at recent ticks. Zeros stand for the time before it existed. */
struct past {
	uint64_t seen; /* number of the last tick that had it; 0: never */
	struct rates_count reading[RATES_READINGS]; /* ring, parallel to rates.reading */
	struct growth_count count;
	struct past_live *live; /* owned; NULL: nothing was live, all of it is 0 */
};

#define PAST_CHUNK 64u /* sites; so that a growing table is neither copied nor half empty */

struct model {
	struct stacks stacks;
	struct thread_rates threads;
	struct past **past; /* by position in `stacks`, in chunks that never move */
	size_t past_chunks, past_room; /* room: for so many chunks */
	struct growth_clock growth;
	uint64_t ticks;
	uint64_t last_ns;
	bool ended; /* the program had ended at the last tick */
	struct rates rates;
};

struct model *model_new(void)
{
	return calloc(1, sizeof(struct model));
}

static struct past *model_past(const struct model *m, size_t position)
{
	return &m->past[position / PAST_CHUNK][position % PAST_CHUNK];
}

static void model_past_free(struct model *m)
{
	for (size_t i = 0; i < m->past_chunks * PAST_CHUNK; i++)
		free(model_past(m, i)->live);
	for (size_t i = 0; i < m->past_chunks; i++)
		free(m->past[i]);
	free(m->past);
}

void model_free(struct model *m)
{
	if (!m)
		return;
	stacks_free(&m->stacks);
	thread_rates_free(&m->threads);
	model_past_free(m);
	free(m);
}

/* Reserves the past of every site; new entries start as zeros. */
static int model_past_reserve(struct model *m)
{
	struct past **chunks;

	if (m->stacks.count < m->past_chunks * PAST_CHUNK)
		return 0;
	chunks = array_grow(m->past, m->past_chunks, &m->past_room, sizeof(struct past *));
	if (!chunks)
		return -ENOMEM;
	m->past = chunks;
	chunks[m->past_chunks] = calloc(PAST_CHUNK, sizeof(struct past));
	if (!chunks[m->past_chunks])
		return -ENOMEM;
	m->past_chunks++;
	return 0;
}

int model_site_add(struct model *m, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, unsigned missing)
{
	int rc = model_past_reserve(m);

	return rc ? rc : stacks_add(&m->stacks, id, alloc_function, frames, nframes, missing);
}

void model_hide_again(struct model *m, bool (*hidden)(const struct frame *f))
{
	stacks_hide_again(&m->stacks, hidden);
}

bool model_site_known(const struct model *m, uint32_t id)
{
	return stacks_find(&m->stacks, id) >= 0;
}

const struct stack *model_site_stack(
	const struct model *m, uint32_t id, const char **alloc_function)
{
	long position = stacks_find(&m->stacks, id);
	const struct stacks_entry *entry =
		position < 0 ? NULL : stacks_at(&m->stacks, (size_t)position);

	*alloc_function = entry ? entry->alloc_function : NULL;
	return entry ? &entry->stack : NULL;
}

uint32_t model_site_places(
	const struct model *m, uint32_t id, struct stack_place **places, uint32_t most)
{
	return stacks_places_of(&m->stacks, id, places, most);
}

const struct frame *model_place_frame(const struct stack_place *p)
{
	return &p->outer;
}

bool model_place_is_asked(const struct stack_place *p)
{
	return p->asked || p->resolved;
}

void model_place_ask(struct stack_place *p)
{
	p->asked = true;
}

int model_place_resolve(
	struct model *m, struct stack_place *p, const struct frame *frames, uint32_t nframes)
{
	return stack_places_resolve(&m->stacks.places, p, frames, nframes);
}

int model_names_settle(struct model *m)
{
	return stacks_settle(&m->stacks);
}

/* A site that was missing for some ticks: its changes are unknown, so show none. */
static void model_past_flatten(struct past *p, const struct model_site *in)
{
	for (unsigned i = 0; i < RATES_READINGS; i++)
		p->reading[i] = rates_count(in->allocs, in->alloc_bytes, in->temporary);
	if (!p->live)
		return;
	for (unsigned i = 0; i < SNAP_TREND_POINTS; i++)
		p->live->trend[i] = in->live_bytes;
	for (unsigned i = 0; i < RATES_READINGS; i++)
		p->live->reading[i] = in->live_bytes;
}

/* From its first live bytes on a site has a past of them. NULL: it has none; or out of memory, then
 * it looks as if it had just come. */
static struct past_live *model_past_live(struct past *p, uint64_t live_bytes)
{
	if (!p->live && live_bytes) {
		p->live = calloc(1, sizeof(*p->live));
		shortage_note(p->live ? 0 : ENOMEM);
	}
	return p->live;
}

/*
 * The newest point is now; the graph shifts left every SNAP_TREND_TICKS ticks. Half of the sites
 * shift at even ticks, half at odd ones: shifting sparklines are the most expensive output for a
 * terminal, so the cost is spread evenly.
 */
static void model_trend(const struct model *m, struct past *p, struct snap_site *out)
{
	uint64_t phase = out->id % SNAP_TREND_TICKS;
	uint64_t step = (m->ticks + phase) / SNAP_TREND_TICKS,
		 points = step - (1 + phase) / SNAP_TREND_TICKS + 1;

	if (p->live)
		p->live->trend[step % SNAP_TREND_POINTS] = out->live_bytes;
	for (unsigned i = 0; p->live && i < SNAP_TREND_POINTS; i++)
		out->trend[i] = p->live->trend[(step + 1 + i) % SNAP_TREND_POINTS];
	out->trend_points = points < SNAP_TREND_POINTS ? (uint8_t)points : SNAP_TREND_POINTS;
}

/* `blocks_grain`: number of blocks that one sample represents. */
static struct snap_error model_error(
	const struct model_variance *v, double bytes_grain, double blocks_grain)
{
	return (struct snap_error){ .live_bytes = interval_half(v->live_bytes, bytes_grain),
		.live_blocks = interval_half(v->live_blocks, blocks_grain),
		.allocs = interval_half(v->allocs, blocks_grain),
		.alloc_bytes = interval_half(v->alloc_bytes, bytes_grain) };
}

/* Each block represents only itself: large blocks, and those older than the sampling. */
static bool model_site_is_exact(const struct model_variance *v)
{
	return v->live_bytes <= 0 && v->live_blocks <= 0 && v->alloc_bytes <= 0 && v->allocs <= 0;
}

/*
 * Blocks of one site are similar, so their average size gives the number that a sample represents.
 * If no block was sampled by chance, the figures are not estimates; allocations that no sample hit
 * are covered by the program's error, like sites that are missing altogether.
 */
static struct snap_error model_site_error(const struct model_site *in, uint64_t rate)
{
	double size = in->allocs ? (double)in->alloc_bytes / (double)in->allocs : 0, blocks;

	if (rate == 0 || model_site_is_exact(&in->variance))
		return (struct snap_error){ 0 };
	blocks = interval_grain(size, (double)rate);
	return model_error(&in->variance, size > 1 ? size * blocks : (double)rate, blocks);
}

static void model_counters(const struct model_site *in, struct snap_site *out)
{
	*out = (struct snap_site){ .id = in->id, .kind = in->kind };
	out->live_bytes = in->live_bytes;
	out->live_blocks = in->allocs > in->frees ? in->allocs - in->frees : 0;
	out->allocs = in->allocs;
	out->frees = in->frees;
	out->alloc_bytes = in->alloc_bytes;
	/* With several threads the site's own peak is a lower bound. */
	out->peak_live_bytes = in->peak_bytes;
	if (out->peak_live_bytes < in->live_bytes)
		out->peak_live_bytes = in->live_bytes;
	if (out->peak_live_bytes < in->at_peak_bytes)
		out->peak_live_bytes = in->at_peak_bytes;
	out->at_peak_bytes = in->at_peak_bytes;
	out->at_peak_blocks = in->at_peak_blocks;
	out->temporary = in->temporary;
}

static void model_site(struct model *m, size_t position, const struct model_site *in,
	struct rates_window w, struct snap_site *out)
{
	const struct stacks_entry *entry = stacks_at(&m->stacks, position);
	struct past *p = model_past(m, position);
	struct past_live *live = model_past_live(p, in->live_bytes);

	model_counters(in, out);
	out->alloc_function = entry->alloc_function;
	out->stack = &entry->stack;
	if (p->seen && p->seen + 1 < m->ticks)
		model_past_flatten(p, in);
	p->seen = m->ticks;
	/* Before spans end: allocations since the last tick belong to the span that ends. */
	growth_count_add(&p->count, in->allocs, m->ticks == 1);
	rates_site_counted(w, live ? live->reading[w.slot] : 0, p->reading[w.slot], out);
	model_trend(m, p, out);
	if (w.keep >= 0)
		p->reading[w.keep] = rates_count(in->allocs, in->alloc_bytes, in->temporary);
	if (w.keep >= 0 && live)
		live->reading[w.keep] = in->live_bytes;
}

/* `now_ns` is the snapshot's time. Once a tick, before model_growth. */
static void model_growth_clock(struct model *m, uint64_t now_ns)
{
	bool ends = !m->ended && growth_clock_tick(&m->growth, now_ns);

	for (size_t i = 0; ends && i < m->stacks.count; i++) {
		struct past *p = model_past(m, i);

		growth_count_span(&p->count, &m->growth);
		if (p->live)
			growth_site_span(&p->live->growth, &m->growth);
	}
}

/* Judges the growth of sites of the snapshot. */
static void model_growth(struct model *m, struct snap_site *sites, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		long position = stacks_find(&m->stacks, sites[i].id);
		struct past_live *live = model_past(m, (size_t)position)->live;

		if (!live)
			continue;
		growth_site_add(&live->growth, sites[i].live_bytes, m->ticks == 1);
		sites[i].growth =
			growth_judge(&live->growth, &m->growth, sites[i].error.live_bytes);
	}
}

/* Threads follow the sites, of either array, in the snapshot's memory. */
static void model_threads(
	struct model *m, const struct model_input *in, struct rates_window w, struct snapshot *s)
{
	struct snap_thread *threads =
		(struct snap_thread *)((struct snap_site *)(s + 1) + in->nsites + in->nmapped);

	if (s->nthreads)
		memcpy(threads, in->head.threads, s->nthreads * sizeof(*threads));
	thread_rates_update(&m->threads, threads, s->nthreads, w);
	s->threads = threads;
}

unsigned model_site_spans(const struct model *m, uint32_t id, struct growth_span out[GROWTH_SPANS])
{
	long position = stacks_find(&m->stacks, id);

	return position < 0
		       ? 0
		       : growth_spans(&model_past(m, (size_t)position)->count, &m->growth, out);
}

/* Shares follow the threads. Their names point to the snapshot's own threads. */
static void model_shares(const struct model_input *in, struct snapshot *s, struct snap_site *sites)
{
	struct snap_share *share = (struct snap_share *)(uintptr_t)(s->threads + in->head.nthreads);
	size_t at = 0;

	for (size_t i = 0; i < in->head.nshares; i++) {
		ptrdiff_t name = in->head.shares[i].thread - (const char *)in->head.threads;

		share[i] = in->head.shares[i];
		share[i].thread = (const char *)s->threads + name;
	}
	s->shares = in->head.nshares ? share : NULL;
	/* Both are in the order of ids. */
	for (size_t i = 0; i < s->nsites; i++) {
		while (at < s->nshares && share[at].site < sites[i].id)
			at++;
		sites[i].share = share + at;
		while (at < s->nshares && share[at].site == sites[i].id) {
			sites[i].shares++;
			at++;
		}
	}
}

/* Wrong frees follow the shares. */
static void model_wrong(const struct model_input *in, struct snapshot *s)
{
	struct snap_share *shares =
		(struct snap_share *)(uintptr_t)(s->threads + in->head.nthreads);
	struct snap_wrong_free *wrong = (struct snap_wrong_free *)(shares + in->head.nshares);

	if (s->nwrong)
		memcpy(wrong, in->head.wrong, s->nwrong * sizeof(*wrong));
	s->wrong = wrong;
}

/* Fills in the sites that were added. `rate`: the coarsest so far. Returns their number. */
static size_t model_sites(struct model *m, const struct model_site *in, size_t n,
	struct rates_window w, uint64_t rate, struct snap_site *out)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		long position = stacks_find(&m->stacks, in[i].id);

		if (position < 0)
			continue;
		model_site(m, (size_t)position, &in[i], w, &out[count]);
		out[count++].error = model_site_error(&in[i], rate);
	}
	return count;
}

void model_stacks_each(
	const struct model *m, void (*each)(void *ctx, const struct stack *s), void *ctx)
{
	for (size_t i = 0; i < m->stacks.count; i++)
		each(ctx, &stacks_at(&m->stacks, i)->stack);
}

struct snapshot *model_tick(struct model *m, const struct model_input *in)
{
	size_t bytes = sizeof(struct snapshot) +
		       (in->nsites + in->nmapped) * sizeof(struct snap_site) +
		       in->head.nthreads * sizeof(struct snap_thread) +
		       in->head.nshares * sizeof(struct snap_share) +
		       in->head.nwrong * sizeof(struct snap_wrong_free);
	struct snapshot *s = array_large(malloc(bytes), bytes);
	struct snap_site *sites, *mapped;
	struct rates_window w;

	static_assert(sizeof(*s) % _Alignof(struct snap_site) == 0, "sites follow the snapshot");
	if (!s)
		return NULL;
	*s = in->head;
	sites = (struct snap_site *)(s + 1);
	/* A program that was attached to began with what it had. */
	if (m->ticks++ == 0 && !in->head.totals.has_before)
		rates_start(&m->rates, in->now_ns, in->head.uptime_ns);
	w = rates_window(&m->rates, in->now_ns, snapshot_ended(&in->head));
	s->rates_ns = w.valid ? (uint64_t)(w.seconds * 1e9) : 0;
	s->refs = 1;
	s->tick_ns = m->ticks > 1 && in->now_ns > m->last_ns ? in->now_ns - m->last_ns : 0;
	m->last_ns = in->now_ns;
	rates_totals(&m->rates, w, s);
	s->totals.error = model_error(
		&in->variance, (double)s->sampling.most, (double)s->sampling.most / INTERVAL_SMALL);
	model_threads(m, in, w, s);
	s->sites = sites;
	s->nsites = model_sites(m, in->sites, in->nsites, w, s->sampling.most, sites);
	s->mapped = mapped = sites + in->nsites;
	s->nmapped = model_sites(m, in->mapped, in->nmapped, w, 0, mapped);
	model_shares(in, s, sites);
	model_wrong(in, s);
	model_growth_clock(m, in->now_ns);
	model_growth(m, sites, s->nsites);
	model_growth(m, mapped, s->nmapped);
	m->ended = snapshot_ended(s);
	rates_keep(&m->rates, w, in->now_ns, &in->head);
	return s;
}
