/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Program-wide totals: words of the header, and sums over the threads (read.h). Main thread. */
#include "src/read/read.h"

#include <string.h>
#include "shm/counter.h"
#include "src/read/segment.h"

/* The highest peak that a slot has recorded, and its time. */
static void totals_peak(
	struct read_totals *out, const struct ht_header *h, const struct ht_thread *t)
{
	uint64_t peak = counter_batch_peak(&t->share);

	if (!counter_batch_above(peak, out->peak_bytes))
		return;
	out->peak_bytes = peak;
	out->peak_ns = t->peak_ns > h->created_ns ? t->peak_ns - h->created_ns : 0;
}

static void totals_add_thread(struct read_totals *out, const struct ht_thread *t)
{
	uint64_t frees = 0;

	for (unsigned i = 0; i < HT_SIZE_BUCKETS; i++) {
		out->size_allocs[i] += t->size[i].allocs;
		out->size_frees[i] += t->size[i].frees;
		out->size_alloc_bytes[i] += t->size[i].alloc_bytes;
		out->size_free_bytes[i] += t->size[i].free_bytes;
		out->allocs += t->size[i].allocs;
		out->alloc_bytes += t->size[i].alloc_bytes;
		out->free_bytes += t->size[i].free_bytes;
		frees += t->size[i].frees;
	}
	out->frees += frees;
	read_lifetimes_add(out->life, frees, t->life);
	out->reallocs += t->reallocs;
	out->temporary += t->temporary;
	out->failed += t->failed;
	out->unknown_frees += t->unknown_frees;
	out->events += -t->weights;
}

/* Slots are not read at one instant: the sum may be negative, or above every recorded peak. */
static void totals_finish(struct read_totals *out, const struct ht_header *h)
{
	uint64_t live = out->alloc_bytes - out->free_bytes;

	out->events += out->allocs + out->frees;
	out->live_bytes = counter_batch_above(0, live) ? 0 : live;
	if (out->peak_bytes >= out->live_bytes)
		return;
	out->peak_bytes = out->live_bytes;
	out->peak_ns = h->clock_ns > h->created_ns ? h->clock_ns - h->created_ns : 0;
}

/*
 * A table that could not grow matters only if records were lost: another table may have had space.
 */
static bool is_out_of_address_space(const struct ht_header *h)
{
	return h->space_refused > 0 && (h->untracked_blocks > 0 || h->nodes_refused > 0 ||
					       h->sites_refused > 0 || h->counters_refused > 0);
}

static void totals_add_header(struct read_totals *out, const struct ht_header *h)
{
	out->clock_ns = h->clock_ns;
	out->untracked_blocks = h->untracked_blocks;
	out->untracked_bytes = h->untracked_bytes;
	out->paused_blocks = h->paused_blocks;
	out->paused_bytes = h->paused_bytes;
	out->commit_failed = h->commit_failed;
	out->missed_frees = h->missed_frees;
	out->cramped = is_out_of_address_space(h);
	out->stacks_bytes = h->stacks_bytes;
	out->stacks_forgotten = h->stacks_forgotten;
	out->unwinds_checked = h->unwinds_checked;
	out->unwinds_wrong = h->unwinds_wrong;
	out->unwinds_shorter = h->unwinds_shorter;
	out->unwinds_longer = h->unwinds_longer;
	out->sites = h->sites;
	out->nodes = h->nodes;
	out->modules = h->modules;
	out->live_levels = h->live_levels;
	out->state = h->state;
	read_mapped_fill(&out->mapped, h);
}

/* What was there before is in no thread's sums, and was there at the peak. */
static void totals_add_before(struct read_totals *out)
{
	const struct read_before *before = &out->before;

	for (unsigned i = 0; i < HT_SIZE_BUCKETS; i++) {
		out->size_allocs[i] += before->of[i].blocks;
		out->size_alloc_bytes[i] += before->of[i].bytes;
	}
	out->allocs += before->blocks;
	out->alloc_bytes += before->bytes;
	out->peak_bytes += before->bytes;
	out->events -= before->blocks;
}

static uint64_t rest(uint64_t all, uint64_t gone)
{
	return all > gone ? all - gone : 0;
}

/* Blocks of unknown sizes: those that were freed had the sizes that they had then; the others are
 * in the bucket of their mean. Bytes are divided as the sizes of the buckets say. */
static int totals_add_other(
	struct read_segment *s, struct read_totals *out, const struct ht_before_class *freed)
{
	const struct ht_before_class *all = &out->before.of[HT_SIZE_BUCKETS];
	uint64_t blocks = rest(all->blocks, freed->blocks), weight = 0;
	uint64_t bytes = rest(all->bytes, freed->bytes);
	uint32_t bucket = blocks ? counter_size_bucket(bytes / blocks) : HT_SIZE_BUCKETS - 1;
	struct ht_hist hist;
	int rc = read_hist(s, out->before.site + HT_SIZE_BUCKETS, &hist);

	for (unsigned i = 0; i < HT_SIZE_BUCKETS && rc == 0; i++)
		weight += hist.size_frees[i] << i;
	for (unsigned i = 0; i < HT_SIZE_BUCKETS && rc == 0; i++) {
		out->size_allocs[i] += hist.size_frees[i];
		out->size_alloc_bytes[i] +=
			(uint64_t)((double)freed->bytes * (double)(hist.size_frees[i] << i) /
				   (double)(weight + !weight));
	}
	out->size_allocs[bucket] += blocks;
	out->size_alloc_bytes[bucket] += bytes;
	return rc;
}

static int totals_read_before(struct read_segment *s, struct read_totals *out)
{
	struct ht_before_class freed[HT_BEFORE_CLASSES] = { 0 };
	int rc = read_before(s, &out->before);

	if (rc == 0 && out->before.site != 0)
		rc = read_before_freed(s, &out->before, freed);
	for (unsigned i = 0; i < HT_BEFORE_CLASSES && rc == 0; i++) {
		out->before_frees += freed[i].blocks;
		out->before_free_bytes += freed[i].bytes;
	}
	if (rc == 0)
		totals_add_before(out);
	if (rc == 0 && out->before.of[HT_SIZE_BUCKETS].bytes != 0)
		rc = totals_add_other(s, out, &freed[HT_SIZE_BUCKETS]);
	return rc;
}

/* The latest marks, oldest first; skips one that is not written yet. */
static void totals_add_marks(struct read_totals *out, const struct ht_header *h)
{
	uint32_t first = h->rate_changes > HT_RATE_CHANGES ? h->rate_changes - HT_RATE_CHANGES : 0;

	for (uint32_t i = first; i - first < HT_RATE_CHANGES && i < h->rate_changes; i++) {
		struct ht_rate_change m = h->rate_change[i % HT_RATE_CHANGES];

		if (m.ns == 0)
			continue;
		m.ns = m.ns > h->created_ns ? m.ns - h->created_ns : 0;
		out->mark[out->marks++] = m;
	}
	out->sample_bytes = h->sample_bytes;
	out->sample_most = h->sample_most;
	out->timed_events = h->timed_events;
	out->timed_ns = h->timed_ns;
}

/* Copies the history between two equal even sequence numbers; after a few tries, as it is. */
static void history_copy(struct read_segment *s, struct ht_history *out)
{
	uint64_t at = offsetof(struct ht_header, history);

	for (int i = 0; i < 4; i++) {
		uint64_t sequence;

		if (read_at(s, at, out, sizeof(*out)) != 0 ||
			read_at(s, at + offsetof(struct ht_history, sequence), &sequence,
				sizeof(sequence)) != 0)
			break;
		if (out->sequence % 2 == 0 && out->sequence == sequence)
			break;
	}
	if (out->points > HT_HISTORY_POINTS)
		out->points = HT_HISTORY_POINTS;
}

static uint32_t clamp(uint32_t value, uint64_t limit)
{
	return value < limit ? value : (uint32_t)limit;
}

int read_totals(struct read_segment *s, struct read_totals *out)
{
	const struct ht_header *h;
	struct ht_thread t;
	int rc = read_header_refresh(s, &h);

	if (rc != 0)
		return rc;
	memset(out, 0, sizeof(*out));
	totals_add_header(out, h);
	totals_add_marks(out, h);
	s->threads = clamp(h->threads, read_capacity(s, HT_REGION_THREADS, sizeof(t)));
	for (uint32_t i = 0; i < s->threads; i++) {
		rc = read_elements(s, HT_REGION_THREADS, i, 1, sizeof(t), &t);
		if (rc != 0)
			return rc;
		totals_add_thread(out, &t);
		totals_peak(out, h, &t);
	}
	rc = totals_read_before(s, out);
	if (rc != 0)
		return rc;
	totals_finish(out, h);
	out->sites = clamp(out->sites, read_capacity(s, HT_REGION_SITES, sizeof(struct ht_site)));
	out->mapped.sites = clamp(
		out->mapped.sites, read_capacity(s, HT_REGION_MAPPED, sizeof(struct ht_mapped)));
	history_copy(s, &out->history);
	return 0;
}
