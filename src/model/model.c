/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From raw counters to snapshots. The session calls this once a tick, on the main thread. Here is
 * what needs the past: each site's last live bytes for the trend, and readings about a second apart
 * over the last ten for rates. Which second a reading belongs to is the same for all sites, so
 * times are kept once; a site holds only values, at most 800 bytes, and a tick costs O(sites).
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/interval.h"
#include "src/model/model.h"
#include "src/model/stacks.h"
#include "src/model/thread_rates.h"

#define BASE_POINTS	 12u /* readings kept for rates: the window and some slack */
#define BASE_STEP_NS	 950000000ull /* a second, less the jitter of a 1 Hz tick */
#define BASE_WINDOW_NS	 10500000000ull
#define RATE_SHORTEST_NS 50000000ull /* a rate over less is noise */

/* What a site was at the recent ticks. Zeros stand for the time before it existed. */
struct past {
	uint64_t seen; /* number of the last tick that had it; 0: never */
	uint64_t trend[SNAP_TREND_POINTS]; /* ring, see model_trend */
	uint64_t base_live[BASE_POINTS]; /* ring, parallel to model.base */
	uint64_t base_allocs[BASE_POINTS];
	struct growth_site growth;
};

/* The program-wide side of one reading. */
struct base {
	uint64_t ns;
	struct snap_totals totals;
	struct snap_proc proc;
};

struct model {
	struct stacks stacks;
	struct threadpast threads;
	struct past *past; /* by position in `stacks` */
	size_t past_cap;
	struct growth_clock growth;
	uint64_t ticks;
	uint64_t last_ns;
	bool ended; /* the last tick found the program so */
	struct base base[BASE_POINTS]; /* ring of readings */
	uint64_t bases; /* taken since start; reading i is at i % BASE_POINTS */
};

/* The reading that this tick's rates are taken against. */
struct window {
	bool valid;
	unsigned slot;
	double seconds;
};

struct model *model_new(void)
{
	return calloc(1, sizeof(struct model));
}

void model_free(struct model *m)
{
	if (!m)
		return;
	stacks_free(&m->stacks);
	threadpast_free(&m->threads);
	free(m->past);
	free(m);
}

/* Room for the past of every site; what is new starts as zeros. */
static int model_past_reserve(struct model *m)
{
	size_t cap = m->past_cap ? m->past_cap : 256;
	struct past *past;

	if (m->stacks.count < m->past_cap)
		return 0;
	while (cap <= m->stacks.count)
		cap *= 2;
	past = realloc(m->past, cap * sizeof(*past));
	if (!past)
		return -ENOMEM;
	memset(past + m->past_cap, 0, (cap - m->past_cap) * sizeof(*past));
	m->past = past;
	m->past_cap = cap;
	return 0;
}

int model_site_add(struct model *m, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, bool truncated)
{
	int rc = model_past_reserve(m);

	return rc ? rc : stacks_add(&m->stacks, id, alloc_function, frames, nframes, truncated);
}

void model_rehide(struct model *m, bool (*hidden)(const struct frame *f))
{
	stacks_rehide(&m->stacks, hidden);
}

bool model_site_known(const struct model *m, uint32_t id)
{
	return stacks_find(&m->stacks, id) >= 0;
}

int model_frame_resolve(
	struct model *m, uint32_t id, uint32_t index, const struct frame *frames, uint32_t nframes)
{
	return stacks_resolve(&m->stacks, id, index, frames, nframes);
}

static void model_base_push(struct model *m, uint64_t ns, const struct snapshot *head)
{
	struct base *b = &m->base[m->bases % BASE_POINTS];

	b->ns = ns;
	b->totals = head->totals;
	b->proc = head->proc;
	m->bases++;
}

/*
 * Before the first tick: when the program itself is younger than the window, its start is a reading
 * too, of zeros, and the first frame already has rates.
 */
static void model_base_start(struct model *m, const struct model_input *in)
{
	static const struct snapshot nothing = { .proc.valid = true };
	uint64_t age = in->head.uptime_ns;

	if (age > 0 && age <= BASE_WINDOW_NS && age <= in->now_ns)
		model_base_push(m, in->now_ns - age, &nothing);
}

/* The oldest reading inside the window or, with ticks further apart than that, the newest. */
static struct window model_window(const struct model *m, uint64_t now_ns)
{
	uint64_t kept = m->bases < BASE_POINTS ? m->bases : BASE_POINTS;
	struct window w = { 0 };

	for (uint64_t i = m->bases - kept; i < m->bases; i++) {
		uint64_t ns = m->base[i % BASE_POINTS].ns;

		if (ns > now_ns || now_ns - ns < RATE_SHORTEST_NS)
			break;
		w.valid = true;
		w.slot = i % BASE_POINTS;
		w.seconds = (double)(now_ns - ns) / 1e9;
		if (now_ns - ns <= BASE_WINDOW_NS)
			break;
	}
	return w;
}

/* Growth of a counter per second. */
static double model_rate(struct window w, uint64_t before, uint64_t now)
{
	return w.valid ? ((double)now - (double)before) / w.seconds : 0;
}

/* The same for what can only rise: a torn reading may seem to fall. */
static double model_frequency(struct window w, uint64_t before, uint64_t now)
{
	return now > before ? model_rate(w, before, now) : 0;
}

static void model_totals(const struct model *m, struct window w, struct snapshot *s)
{
	const struct base *b = &m->base[w.slot];
	struct snap_totals *t = &s->totals;
	struct snap_proc *p = &s->proc;
	struct window faults = w;

	t->allocs_per_s = model_frequency(w, b->totals.allocs, t->allocs);
	t->frees_per_s = model_frequency(w, b->totals.frees, t->frees);
	t->reallocs_per_s = model_frequency(w, b->totals.reallocs, t->reallocs);
	t->growth_bytes_per_s = model_rate(w, b->totals.live_bytes, t->live_bytes);
	faults.valid = w.valid && b->proc.valid && p->valid;
	p->minor_faults_per_s = model_frequency(faults, b->proc.minor_faults, p->minor_faults);
	p->major_faults_per_s = model_frequency(faults, b->proc.major_faults, p->major_faults);
}

/* A site that was left out for some ticks: what happened there is not known, so nothing moves. */
static void model_past_flatten(struct past *p, const struct model_site *in)
{
	for (unsigned i = 0; i < SNAP_TREND_POINTS; i++)
		p->trend[i] = in->live_bytes;
	for (unsigned i = 0; i < BASE_POINTS; i++) {
		p->base_live[i] = in->live_bytes;
		p->base_allocs[i] = in->allocs;
	}
}

/* The newest point is now, and moves to the left after SNAP_TREND_TICKS of them. Half of the sites
 * move with the even ticks, half with the odd: a sparkline that moves is what costs a terminal
 * most, and no two frames should differ much in that. */
static void model_trend(const struct model *m, struct past *p, struct snap_site *out)
{
	uint64_t phase = out->id % SNAP_TREND_TICKS;
	uint64_t step = (m->ticks + phase) / SNAP_TREND_TICKS,
		 points = step - (1 + phase) / SNAP_TREND_TICKS + 1;

	p->trend[step % SNAP_TREND_POINTS] = out->live_bytes;
	for (unsigned i = 0; i < SNAP_TREND_POINTS; i++)
		out->trend[i] = p->trend[(step + 1 + i) % SNAP_TREND_POINTS];
	out->trend_points = points < SNAP_TREND_POINTS ? (uint8_t)points : SNAP_TREND_POINTS;
}

/* `blocks_grain`: how many blocks one sample stands for. */
static struct snap_error model_error(
	const struct model_variance *v, double bytes_grain, double blocks_grain)
{
	return (struct snap_error){ .live_bytes = interval_half(v->live_bytes, bytes_grain),
		.live_blocks = interval_half(v->live_blocks, blocks_grain),
		.allocs = interval_half(v->allocs, blocks_grain),
		.alloc_bytes = interval_half(v->alloc_bytes, bytes_grain) };
}

/* Each block stands for itself alone: large ones, and those from before the sampling. */
static bool model_site_is_exact(const struct model_variance *v)
{
	return v->live_bytes <= 0 && v->live_blocks <= 0 && v->alloc_bytes <= 0 && v->allocs <= 0;
}

/*
 * Blocks of one site are much alike, so what it allocated tells how many a sample stands for. Where
 * no block was picked by chance the figures are no estimates; what a site has allocated that no
 * sample met is inside the bar of the program, like sites that are missing altogether.
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
	*out = (struct snap_site){ .id = in->id };
	out->live_bytes = in->live_bytes;
	out->live_blocks = in->allocs > in->frees ? in->allocs - in->frees : 0;
	out->allocs = in->allocs;
	out->frees = in->frees;
	out->alloc_bytes = in->alloc_bytes;
	out->peak_live_bytes = in->peak_bytes > in->live_bytes ? in->peak_bytes : in->live_bytes;
	out->temporary = in->temporary;
}

/* `keep`: this tick is also a reading that later rates are taken against, at `keep_slot`. */
static void model_site(struct model *m, size_t position, const struct model_site *in,
	struct window w, int keep_slot, struct snap_site *out)
{
	const struct stacks_entry *entry = stacks_at(&m->stacks, position);
	struct past *p = &m->past[position];

	model_counters(in, out);
	out->alloc_function = entry->alloc_function;
	out->stack = &entry->stack;
	if (p->seen && p->seen + 1 < m->ticks)
		model_past_flatten(p, in);
	p->seen = m->ticks;
	/* Before spans end: what was allocated since the last tick is of the one that does. */
	growth_site_count(&p->growth, in->allocs, m->ticks == 1);
	out->rate_bytes_per_s = model_rate(w, p->base_live[w.slot], in->live_bytes);
	out->allocs_per_s = model_frequency(w, p->base_allocs[w.slot], in->allocs);
	model_trend(m, p, out);
	if (keep_slot >= 0) {
		p->base_live[keep_slot] = in->live_bytes;
		p->base_allocs[keep_slot] = in->allocs;
	}
}

/* The sites of the snapshot that grow: `now_ns` is its time. */
static void model_growth(struct model *m, uint64_t now_ns, struct snap_site *sites, size_t n)
{
	if (!m->ended && growth_clock_tick(&m->growth, now_ns))
		for (size_t i = 0; i < m->stacks.count; i++)
			growth_site_span(&m->past[i].growth, &m->growth);
	for (size_t i = 0; i < n; i++) {
		struct growth_site *g = &m->past[stacks_find(&m->stacks, sites[i].id)].growth;

		growth_site_add(g, sites[i].live_bytes, m->ticks == 1);
		sites[i].growth = growth_judge(g, &m->growth, sites[i].error.live_bytes);
	}
}

/* Where this tick's reading goes, or -1 when the last one is too young. */
static int model_keep_slot(const struct model *m, uint64_t now_ns)
{
	uint64_t last = m->bases ? m->base[(m->bases - 1) % BASE_POINTS].ns : 0;

	if (m->bases && (now_ns < last || now_ns - last < BASE_STEP_NS))
		return -1;
	return (int)(m->bases % BASE_POINTS);
}

/* Threads stand behind the sites, in the snapshot's own memory. */
static void model_threads(struct model *m, const struct model_input *in, struct window w,
	int keep_slot, struct snapshot *s)
{
	struct snap_thread *threads =
		(struct snap_thread *)((struct snap_site *)(s + 1) + in->nsites);
	struct threadpast_window past = {
		.valid = w.valid, .slot = w.slot, .seconds = w.seconds, .keep = keep_slot
	};

	static_assert(THREADPAST_POINTS == BASE_POINTS, "one ring of readings");
	if (s->nthreads)
		memcpy(threads, in->head.threads, s->nthreads * sizeof(*threads));
	threadpast_rates(&m->threads, threads, s->nthreads, &past);
	s->threads = threads;
}

unsigned model_site_spans(const struct model *m, uint32_t id, struct growth_span out[GROWTH_SPANS])
{
	long position = stacks_find(&m->stacks, id);

	return position < 0 ? 0 : growth_spans(&m->past[position].growth, &m->growth, out);
}

/* Behind the threads. Their names are those of the snapshot's own threads. */
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

struct snapshot *model_tick(struct model *m, const struct model_input *in)
{
	struct snapshot *s = malloc(sizeof(*s) + in->nsites * sizeof(struct snap_site) +
				    in->head.nthreads * sizeof(struct snap_thread) +
				    in->head.nshares * sizeof(struct snap_share));
	struct snap_site *sites;
	struct window w = { 0 };
	int keep_slot;

	static_assert(sizeof(*s) % _Alignof(struct snap_site) == 0, "sites follow the snapshot");
	if (!s)
		return NULL;
	*s = in->head;
	sites = (struct snap_site *)(s + 1);
	if (m->ticks++ == 0)
		model_base_start(m, in);
	if (!snapshot_ended(&in->head))
		w = model_window(m, in->now_ns);
	s->rates_ns = w.valid ? (uint64_t)(w.seconds * 1e9) : 0;
	keep_slot = model_keep_slot(m, in->now_ns);
	s->refs = 1;
	s->tick_ns = m->ticks > 1 && in->now_ns > m->last_ns ? in->now_ns - m->last_ns : 0;
	m->last_ns = in->now_ns;
	model_totals(m, w, s);
	s->totals.error = model_error(
		&in->variance, (double)s->sampling.most, (double)s->sampling.most / INTERVAL_SMALL);
	model_threads(m, in, w, keep_slot, s);
	s->sites = sites;
	s->nsites = 0;
	for (size_t i = 0; i < in->nsites; i++) {
		long position = stacks_find(&m->stacks, in->sites[i].id);

		if (position < 0)
			continue;
		model_site(m, (size_t)position, &in->sites[i], w, keep_slot, &sites[s->nsites]);
		sites[s->nsites++].error = model_site_error(&in->sites[i], s->sampling.most);
	}
	model_shares(in, s, sites);
	model_growth(m, in->now_ns, sites, s->nsites);
	m->ended = snapshot_ended(s);
	if (keep_slot >= 0)
		model_base_push(m, in->now_ns, &in->head);
	return s;
}
