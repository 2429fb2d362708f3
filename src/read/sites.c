/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums up the counters of a segment by site. All counters in use are read in one pass, in large
 * pieces: a program with one thread has one counter per site, and more are rare. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/counter_batch.h"
#include "src/read/at_peak.h"
#include "src/read/segment.h"

#define SITES_PIECE    1024u /* 32 KB per read */
#define COUNTERS_PIECE AT_PEAK_PIECE /* 32 KB a read */
#define EPOCH_TRIES    3u

/* Buffer of one read; too large for the stack. */
union piece {
	struct ht_site site[SITES_PIECE];
	struct {
		struct ht_counter counter[COUNTERS_PIECE];
		union {
			struct ht_variance spread[COUNTERS_PIECE];
			struct at_peak_piece at_peak;
		};
	};
};

/* A window of the sites: [first, first + count). */
struct window {
	uint32_t first, count;
	struct read_site *out;
	union piece *piece;
};

static int sites_copy(struct read_segment *s, const struct window *w)
{
	struct ht_site *piece = w->piece->site;
	int rc = 0;

	for (uint32_t at = 0; at < w->count && rc == 0; at += SITES_PIECE) {
		uint32_t n = w->count - at < SITES_PIECE ? w->count - at : SITES_PIECE;

		rc = read_elements(
			s, HT_REGION_SITES, (uint64_t)w->first + at, n, sizeof(*piece), piece);
		for (uint32_t i = 0; i < n && rc == 0; i++)
			w->out[at + i] = (struct read_site){ .node = piece[i].node,
				.flags = piece[i].flags };
	}
	return rc;
}

static void counter_add(
	const struct window *w, const struct ht_counter *c, const struct ht_at_peak *at_peak)
{
	uint32_t number = ht_counter_site(c->key);
	uint64_t peak = counter_batch_peak(&c->share);
	struct read_site *site;

	if (number - w->first >= w->count)
		return;
	site = &w->out[number - w->first];
	site->allocs += c->allocs;
	site->frees += c->frees;
	site->alloc_bytes += c->alloc_bytes;
	site->live_bytes += c->alloc_bytes - c->free_bytes;
	site->temporary += c->temporary;
	site->at_peak_bytes += at_peak->bytes;
	site->at_peak_blocks += at_peak->blocks;
	if (counter_batch_above(peak, site->peak_bytes))
		site->peak_bytes = peak;
}

static void spread_add(
	const struct window *w, const struct ht_counter *c, const struct ht_variance *own)
{
	uint32_t number = ht_counter_site(c->key);
	struct ht_variance *out;

	if (number - w->first >= w->count)
		return;
	out = &w->out[number - w->first].spread;
	out->blocks += own->blocks;
	out->bytes += own->bytes;
	out->free_blocks += own->free_blocks;
	out->free_bytes += own->free_bytes;
}

/* The spreads of counters [at, at + n). */
static int spreads_add(struct read_segment *s, const struct window *w, uint32_t at, uint32_t n)
{
	struct ht_variance *piece = w->piece->spread;
	int rc = read_elements(s, HT_REGION_VARIANCES, at, n, sizeof(*piece), piece);

	for (uint32_t i = 0; i < n && rc == 0; i++)
		spread_add(w, &w->piece->counter[i], &piece[i]);
	return rc;
}

/* `epoch`: the newest of the peak. */
static int counters_add(struct read_segment *s, const struct window *w, uint32_t epoch)
{
	struct ht_counter *piece = w->piece->counter;
	uint64_t sampled = 0;
	uint32_t used;
	int rc = read_used(
		s, offsetof(struct ht_header, counters), HT_REGION_COUNTERS, sizeof(*piece), &used);

	if (rc == 0)
		rc = read_at(s, offsetof(struct ht_header, sample_most), &sampled, sizeof(sampled));
	for (uint32_t at = 0; rc == 0 && at < used; at += COUNTERS_PIECE) {
		uint32_t n = used - at < COUNTERS_PIECE ? used - at : COUNTERS_PIECE;

		rc = read_elements(s, HT_REGION_COUNTERS, at, n, sizeof(*piece), piece);
		if (rc == 0)
			rc = at_peak_read(s, epoch, at, n, piece, &w->piece->at_peak);
		for (uint32_t i = 0; i < n && rc == 0; i++)
			counter_add(w, &piece[i], &w->piece->at_peak.value[i]);
		if (rc == 0 && sampled != 0)
			rc = spreads_add(s, w, at, n);
	}
	return rc;
}

/* 1: meanwhile another peak epoch began, and some counters were read before that. */
static int window_read(struct read_segment *s, const struct window *w)
{
	uint32_t before, after;
	int rc = at_peak_epoch(s, &before);

	if (rc == 0)
		rc = sites_copy(s, w);
	if (rc == 0)
		rc = counters_add(s, w, before);
	if (rc == 0)
		rc = at_peak_epoch(s, &after);
	return rc == 0 ? before != after : rc;
}

/* What was there before is in no counter: it adds to what its sites have allocated, and to every
 * moment of theirs. */
static int before_add(struct read_segment *s, const struct window *w)
{
	struct read_before before;
	int rc = read_before(s, &before);

	for (uint32_t i = 0; i < HT_BEFORE_CLASSES && rc == 0 && before.site != 0; i++) {
		const struct ht_before_class *c = &before.of[i];
		struct read_site *site = &w->out[before.site + i - w->first];

		if (before.site + i - w->first >= w->count)
			continue;
		site->is_before = true;
		site->allocs += c->blocks;
		site->alloc_bytes += c->bytes;
		site->live_bytes += c->bytes;
		site->peak_bytes += c->bytes;
		site->at_peak_bytes += c->bytes;
		site->at_peak_blocks += c->blocks;
	}
	return rc;
}

/* The counters of a site are not read at one instant, so their sum may be negative. */
static void site_finish(struct read_site *site)
{
	if (counter_batch_above(0, site->live_bytes))
		site->live_bytes = 0;
	if (counter_batch_above(0, site->at_peak_bytes))
		site->at_peak_bytes = 0;
	if (counter_batch_above(0, site->at_peak_blocks))
		site->at_peak_blocks = 0;
	if (site->peak_bytes < site->live_bytes)
		site->peak_bytes = site->live_bytes;
}

ssize_t read_sites(struct read_segment *s, uint32_t first, struct read_site *out, uint32_t count)
{
	struct window w = { first, count, out, NULL };
	uint32_t used;
	int rc = read_used(s, offsetof(struct ht_header, sites), HT_REGION_SITES,
		sizeof(struct ht_site), &used);

	if (rc != 0)
		return rc;
	if (first >= used)
		return 0;
	if (count > used - first)
		w.count = used - first;
	w.piece = malloc(sizeof(*w.piece));
	rc = w.piece ? 1 : -ENOMEM;
	for (unsigned i = 0; i < EPOCH_TRIES && rc == 1; i++)
		rc = window_read(s, &w);
	free(w.piece);
	if (rc == 1)
		rc = 0; /* they follow each other too fast: this is nearly right */
	if (rc == 0)
		rc = before_add(s, &w);
	for (uint32_t i = 0; i < w.count && rc == 0; i++)
		site_finish(&out[i]);
	return rc != 0 ? rc : (ssize_t)w.count;
}

/* ---- histograms ---- */

static int counter_get(struct read_segment *s, uint32_t counter, struct ht_counter *out)
{
	return read_elements(s, HT_REGION_COUNTERS, counter, 1, sizeof(*out), out);
}

static int hist_get(struct read_segment *s, uint32_t hist, struct ht_hist *out)
{
	memset(out, 0, sizeof(*out));
	return hist == 0 ? 0 : read_elements(s, HT_REGION_HISTS, hist, 1, sizeof(*out), out);
}

/* A counter's histogram; without one, the lifetimes that it counts itself. */
static int hist_of_counter(struct read_segment *s, const struct ht_counter *c, struct ht_hist *out)
{
	int rc = hist_get(s, c->hist == HT_HIST_FEW ? 0 : c->hist, out);

	for (unsigned i = 1; i < HT_FEW_BUCKETS && c->hist == HT_HIST_FEW; i++)
		out->life[i] = ht_few(c->few_lives, i);
	return rc;
}

/* Adds a counter's blocks: all in one bucket, as it counts them, or by its histogram. */
static void sizes_add(struct ht_hist *out, const struct ht_counter *c, const struct ht_hist *own)
{
	uint32_t bucket = ht_counter_size(c->key);
	bool mixed = bucket == HT_SIZE_MIXED || bucket == HT_SIZE_ANY;

	for (unsigned i = 0; i < HT_FEW_BUCKETS && bucket == HT_SIZE_FEW; i++) {
		out->size_allocs[i] += ht_few(c->few_allocs, i);
		out->size_frees[i] += ht_few(c->few_frees, i);
	}
	if (bucket < HT_SIZE_BUCKETS) {
		out->size_allocs[bucket] += c->allocs;
		out->size_frees[bucket] += c->frees;
	}
	for (unsigned i = 0; i < HT_SIZE_BUCKETS && mixed; i++) {
		out->size_allocs[i] += own->size_allocs[i];
		out->size_frees[i] += own->size_frees[i];
	}
}

void read_lifetimes_add(uint64_t *out, uint64_t frees, const uint64_t *longer)
{
	for (unsigned i = 1; i < HT_LIFE_BUCKETS; i++) {
		out[i] += longer[i];
		frees = frees > longer[i] ? frees - longer[i] : 0;
	}
	out[0] += frees;
}

/* Adds a counter's histogram; skips a counter that has none for lack of space. */
static int hist_add(struct read_segment *s, struct ht_hist *out, const struct ht_counter *c)
{
	uint32_t bucket = ht_counter_size(c->key);
	bool refused = c->hist == 0 && (bucket == HT_SIZE_MIXED || bucket == HT_SIZE_ANY);
	struct ht_hist own;
	int rc = hist_of_counter(s, c, &own);

	if (rc != 0 || refused)
		return rc;
	sizes_add(out, c, &own);
	read_lifetimes_add(out->life, c->frees, own.life);
	return 0;
}

/* Calls `each` for the counters of a site. A slot has at most one there, so a longer chain is
 * malformed. */
static int counters_of_site(struct read_segment *s, uint32_t site,
	int (*each)(struct read_segment *s, void *ctx, uint32_t at, const struct ht_counter *c),
	void *ctx)
{
	uint64_t left = read_capacity(s, HT_REGION_THREADS, sizeof(struct ht_thread));
	struct ht_site e;
	struct ht_counter c;
	int rc = read_elements(s, HT_REGION_SITES, site, 1, sizeof(e), &e);

	for (uint32_t at = rc == 0 ? e.counters : 0; at != 0 && rc == 0; at = c.next) {
		if (left-- == 0)
			return -EINVAL;
		rc = counter_get(s, at, &c);
		if (rc == 0)
			rc = each(s, ctx, at, &c);
	}
	if (rc == 0 && (site == 0 || e.shared != 0)) {
		uint32_t shared = site == 0 ? 0 : e.shared;

		rc = counter_get(s, shared, &c);
		if (rc == 0)
			rc = each(s, ctx, shared, &c);
	}
	return rc;
}

static int hist_of(struct read_segment *s, void *ctx, uint32_t at, const struct ht_counter *c)
{
	return hist_add(s, ctx, c);
}

int read_hist(struct read_segment *s, uint32_t site, struct ht_hist *out)
{
	struct read_before before;
	int rc = read_before(s, &before);

	memset(out, 0, sizeof(*out));
	if (rc == 0 && before.site != 0 && site - before.site < HT_SIZE_BUCKETS)
		out->size_allocs[site - before.site] = before.of[site - before.site].blocks;
	return rc == 0 ? counters_of_site(s, site, hist_of, out) : rc;
}

struct site_threads {
	struct read_site_thread *out;
	uint32_t max;
	ssize_t count;
};

static struct read_site_thread share_of(uint32_t counter, const struct ht_counter *c)
{
	return (struct read_site_thread){ .slot = ht_counter_slot(c->key),
		.counter = counter,
		.allocs = c->allocs,
		.alloc_bytes = c->alloc_bytes,
		.frees = c->frees,
		.free_bytes = c->free_bytes };
}

static int thread_of(struct read_segment *s, void *ctx, uint32_t at, const struct ht_counter *c)
{
	struct site_threads *t = ctx;

	if (t->count < t->max)
		t->out[t->count] = share_of(at, c);
	t->count++;
	return 0;
}

ssize_t read_site_threads(
	struct read_segment *s, uint32_t site, struct read_site_thread *out, uint32_t max)
{
	struct site_threads t = { .out = out, .max = max };
	int rc = counters_of_site(s, site, thread_of, &t);

	return rc != 0 ? rc : t.count;
}

static int freed_of(struct read_segment *s, void *ctx, uint32_t at, const struct ht_counter *c)
{
	uint64_t *sums = ctx;

	sums[0] += c->frees;
	sums[1] += c->free_bytes;
	return 0;
}

int read_site_freed(struct read_segment *s, uint32_t site, uint64_t *frees, uint64_t *bytes)
{
	uint64_t sums[2] = { 0, 0 };
	int rc = counters_of_site(s, site, freed_of, sums);

	*frees = sums[0];
	*bytes = sums[1];
	return rc;
}

uint32_t read_counters(const struct read_segment *s)
{
	uint64_t capacity = read_capacity(s, HT_REGION_COUNTERS, sizeof(struct ht_counter));
	uint32_t used;

	if (read_at(s, offsetof(struct ht_header, counters), &used, sizeof(used)) != 0)
		return 0;
	return used < capacity ? used : (uint32_t)capacity;
}

int read_shares(struct read_segment *s, uint32_t sites,
	void (*visit)(void *ctx, uint32_t site, const struct read_site_thread *t), void *ctx)
{
	struct ht_counter *piece = calloc(COUNTERS_PIECE, sizeof(*piece));
	uint32_t used;
	int rc = !piece ? -ENOMEM
			: read_used(s, offsetof(struct ht_header, counters), HT_REGION_COUNTERS,
				  sizeof(*piece), &used);

	for (uint32_t at = 0; rc == 0 && at < used; at += COUNTERS_PIECE) {
		uint32_t n = used - at < COUNTERS_PIECE ? used - at : COUNTERS_PIECE;

		rc = read_elements(s, HT_REGION_COUNTERS, at, n, sizeof(*piece), piece);
		for (uint32_t i = 0; i < n && rc == 0; i++) {
			const struct ht_counter *c = &piece[i];
			struct read_site_thread t = share_of(at + i, c);

			if (ht_counter_site(c->key) < sites && (c->allocs || c->frees))
				visit(ctx, ht_counter_site(c->key), &t);
		}
	}
	free(piece);
	return rc;
}
