/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of several processes' totals (merged_totals.h). Pure. */
#include "src/model/merged_totals.h"

#include <stddef.h>
#include <string.h>

#define Z_95 1.96 /* half a 95 % interval, in standard deviations */

#define FIELD(name) offsetof(struct snap_totals, name)

/* What only grows: it stays counted when a process ends. */
static const size_t flows[] = { FIELD(allocs), FIELD(frees), FIELD(reallocs), FIELD(alloc_bytes),
	FIELD(free_bytes), FIELD(temporary), FIELD(failed), FIELD(unknown_frees),
	FIELD(wrong_frees[SNAP_WRONG_UNKNOWN]), FIELD(wrong_frees[SNAP_WRONG_INSIDE]),
	FIELD(wrong_frees[SNAP_WRONG_DOUBLE]), FIELD(wrong_frees[SNAP_WRONG_MISMATCHED]),
	FIELD(wrong_frees[SNAP_WRONG_SIZED]), FIELD(missed_frees), FIELD(lost_events),
	FIELD(untracked_blocks), FIELD(untracked_bytes), FIELD(paused_blocks), FIELD(paused_bytes),
	FIELD(truncated_stacks), FIELD(ancestor_allocs), FIELD(maps), FIELD(unmaps),
	FIELD(map_bytes), FIELD(unmap_bytes), FIELD(unknown_unmap_bytes), FIELD(missed_unmap_bytes),
	FIELD(untracked_maps), FIELD(untracked_map_bytes), FIELD(untracked_unmap_bytes),
	FIELD(pool_untracked), FIELD(pool_untracked_bytes) };
/* What a process holds, until it ends. */
static const size_t held[] = { FIELD(live_blocks), FIELD(live_bytes), FIELD(stacks_bytes),
	FIELD(ancestor_live_bytes), FIELD(mapped_bytes), FIELD(mapped_blocks),
	FIELD(allocator_mapped_bytes), FIELD(pool_bytes), FIELD(pool_blocks) };

static uint64_t *field(struct snap_totals *t, size_t at)
{
	return (uint64_t *)(void *)((char *)t + at);
}

static uint64_t field_of(const struct snap_totals *t, size_t at)
{
	return *(const uint64_t *)(const void *)((const char *)t + at);
}

/* What it has allocated and, if it is gone, what its end has freed. */
static void flows_add(struct snap_totals *to, const struct snap_totals *from, bool gone)
{
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		*field(to, flows[i]) += field_of(from, flows[i]);
	if (!gone)
		return;
	to->frees += from->live_blocks;
	to->free_bytes += from->live_bytes;
	to->unmaps += from->mapped_blocks;
	to->unmap_bytes += from->mapped_bytes;
}

static void proc_add(struct snap_proc *to, const struct snap_proc *from, bool first, bool gone)
{
	to->minor_faults += from->minor_faults;
	to->major_faults += from->major_faults;
	if (gone || !from->valid)
		return;
	to->rss += from->rss;
	to->swap += from->swap;
	to->threads += from->threads;
	to->pss += from->pss;
	to->have_pss = (first || to->have_pss) && from->have_pss;
	to->valid = true;
}

static double variance(uint64_t half)
{
	return (double)half / Z_95 * ((double)half / Z_95);
}

static void variance_add(struct model_variance *to, const struct snap_error *e, bool gone)
{
	to->live_bytes += gone ? 0 : variance(e->live_bytes);
	to->live_blocks += gone ? 0 : variance(e->live_blocks);
	to->allocs += variance(e->allocs);
	to->alloc_bytes += variance(e->alloc_bytes);
}

static void sampling_add(struct snap_sampling *to, const struct snap_sampling *from)
{
	if (from->bytes > to->bytes)
		to->bytes = from->bytes;
	if (from->most > to->most)
		to->most = from->most;
}

void merged_totals_begin(struct merged_totals *t)
{
	memset(&t->sum, 0, sizeof(t->sum));
	t->variance = (struct model_variance){ 0 };
	t->processes = 0;
}

static void held_add(struct snapshot *sum, const struct snapshot *s)
{
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		*field(&sum->totals, held[i]) += field_of(&s->totals, held[i]);
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		sum->sizes[i].live_blocks += s->sizes[i].live_blocks;
		sum->sizes[i].live_bytes += s->sizes[i].live_bytes;
	}
	sum->segment_bytes += s->segment_bytes;
}

void merged_totals_add(struct merged_totals *t, const struct snapshot *s, bool gone)
{
	struct snapshot *sum = &t->sum;

	flows_add(&sum->totals, &s->totals, gone);
	if (!gone)
		held_add(sum, s);
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		sum->sizes[i].allocs += s->sizes[i].allocs;
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		sum->lifetimes[i] += s->lifetimes[i];
	proc_add(&sum->proc, &s->proc, t->processes == 0, gone);
	variance_add(&t->variance, &s->totals.error, gone);
	sampling_add(&sum->sampling, &s->sampling);
	sum->totals.has_mapped |= s->totals.has_mapped;
	if (s->totals.peak_live_bytes > t->peak_bytes) {
		t->peak_bytes = s->totals.peak_live_bytes;
		t->peak_realtime_ns = s->start_realtime_ns + s->totals.peak_ns;
	}
	t->processes += !gone;
}

void merged_totals_leave(struct merged_totals *t, const struct snapshot *last)
{
	flows_add(&t->gone, &last->totals, true);
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		t->gone_allocs[i] += last->sizes[i].allocs;
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		t->gone_lifetimes[i] += last->lifetimes[i];
	t->gone_minor += last->proc.minor_faults;
	t->gone_major += last->proc.major_faults;
	t->gone_processes++;
}

/* A sum is only known at the ticks, and what one process had is a lower bound, too. */
static void peaks_take(struct merged_totals *t, const struct snapshot *head)
{
	struct snapshot *s = &t->sum;
	uint64_t now = head->uptime_ns, start = head->start_realtime_ns;

	/* The first of equal ones is the peak. */
	if (s->totals.live_bytes > t->peak_bytes) {
		t->peak_bytes = s->totals.live_bytes;
		t->peak_realtime_ns = start + now;
	}
	if (s->totals.mapped_bytes >= t->mapped_peak_bytes) {
		t->mapped_peak_bytes = s->totals.mapped_bytes;
		t->mapped_peak_ns = now;
	}
	if (s->totals.pool_bytes > t->pool_peak_bytes)
		t->pool_peak_bytes = s->totals.pool_bytes;
	if (s->proc.rss > t->hwm)
		t->hwm = s->proc.rss;
	s->totals.peak_live_bytes = t->peak_bytes;
	s->totals.peak_ns = t->peak_realtime_ns > start ? t->peak_realtime_ns - start : 0;
	s->totals.mapped_peak_bytes = t->mapped_peak_bytes;
	s->totals.mapped_peak_ns = t->mapped_peak_ns;
	s->totals.pool_peak_bytes = t->pool_peak_bytes;
	s->proc.hwm = t->hwm;
}

void merged_totals_fill(
	struct merged_totals *t, const struct snapshot *head, struct model_input *in)
{
	struct snapshot *s = &t->sum;

	flows_add(&s->totals, &t->gone, false);
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		s->sizes[i].allocs += t->gone_allocs[i];
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		s->lifetimes[i] += t->gone_lifetimes[i];
	s->proc.minor_faults += t->gone_minor;
	s->proc.major_faults += t->gone_major;
	peaks_take(t, head);
	in->head.totals = s->totals;
	in->head.proc = s->proc;
	in->head.sampling = s->sampling;
	in->head.segment_bytes = s->segment_bytes;
	memcpy(in->head.sizes, s->sizes, sizeof(s->sizes));
	memcpy(in->head.lifetimes, s->lifetimes, sizeof(s->lifetimes));
	in->head.processes = t->processes ? t->processes : t->gone_processes;
	in->variance = t->variance;
}
