/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A segment's totals and histograms in a snapshot (totals.h). */
#include "src/session/totals.h"

#include <string.h>

uint64_t totals_rest(uint64_t all, uint64_t gone)
{
	return all > gone ? all - gone : 0;
}

static void mapped_fill(struct snap_totals *out, const struct read_mapped_totals *t)
{
	out->has_mapped = true;
	out->maps = t->maps;
	out->unmaps = t->unmaps;
	out->map_bytes = t->map_bytes;
	out->unmap_bytes = t->unmap_bytes;
	out->mapped_bytes = totals_rest(t->map_bytes, t->unmap_bytes);
	out->mapped_blocks = totals_rest(t->maps, t->unmaps);
	out->mapped_peak_bytes = t->peak_bytes;
	out->mapped_peak_ns = t->peak_ns;
	out->allocator_mapped_bytes = t->allocator_bytes;
	out->unknown_unmap_bytes = t->unknown_unmap_bytes;
	out->missed_unmap_bytes = t->missed_unmap_bytes;
	out->untracked_maps = t->untracked_maps;
	out->untracked_map_bytes = t->untracked_map_bytes;
	out->untracked_unmap_bytes = t->untracked_unmap_bytes;
	out->pool_bytes = totals_rest(t->pool_bytes, t->pool_gone_bytes);
	out->pool_blocks = totals_rest(t->pool_blocks, t->pool_gone_blocks);
	out->pool_peak_bytes = t->pool_peak_bytes;
	out->pool_untracked = t->pool_untracked;
	out->pool_untracked_bytes = t->pool_untracked_bytes;
}

static void before_fill(struct snap_totals *out, const struct read_totals *t)
{
	out->has_before = t->before.is_known;
	if (!out->has_before)
		return;
	out->before_found_blocks = t->before.blocks;
	out->before_found_bytes = t->before.bytes;
	out->before_blocks = totals_rest(t->before.blocks, t->before_frees);
	out->before_bytes = totals_rest(t->before.bytes, t->before_free_bytes);
}

void totals_fill(struct snap_totals *out, const struct read_totals *t)
{
	*out = (struct snap_totals){ .allocs = t->allocs,
		.frees = t->frees,
		.reallocs = t->reallocs,
		.alloc_bytes = t->alloc_bytes,
		.free_bytes = t->free_bytes,
		.live_bytes = t->live_bytes,
		.live_blocks = totals_rest(t->allocs, t->frees),
		.peak_live_bytes = t->peak_bytes,
		.peak_ns = t->peak_ns,
		.temporary = t->temporary,
		.failed = t->failed,
		.unknown_frees = t->unknown_frees,
		.missed_frees = t->missed_frees,
		.untracked_blocks = t->untracked_blocks,
		.untracked_bytes = t->untracked_bytes,
		.paused_blocks = t->paused_blocks,
		.paused_bytes = t->paused_bytes,
		.stacks_bytes = t->stacks_bytes,
		.stacks_forgotten = t->stacks_forgotten,
		.unwinds_checked = t->unwinds_checked,
		.unwinds_wrong = t->unwinds_wrong,
		.unwinds_shorter = t->unwinds_shorter,
		.unwinds_longer = t->unwinds_longer };
	mapped_fill(out, &t->mapped);
	before_fill(out, t);
}

struct model_site totals_site(uint32_t id, const struct read_site *in)
{
	return (struct model_site){ .id = id,
		.allocs = in->allocs,
		.frees = in->frees,
		.alloc_bytes = in->alloc_bytes,
		.live_bytes = in->live_bytes,
		.peak_bytes = in->peak_bytes,
		.at_peak_bytes = in->at_peak_bytes,
		.at_peak_blocks = in->at_peak_blocks,
		.temporary = in->temporary };
}

void totals_at_peak_fill(struct snap_totals *out, const struct read_site *sites, size_t count)
{
	out->has_at_peak = true;
	for (size_t i = 0; i < count; i++) {
		out->at_peak_bytes += sites[i].at_peak_bytes;
		out->at_peak_blocks += sites[i].at_peak_blocks;
	}
	if (out->peak_live_bytes < out->at_peak_bytes)
		out->peak_live_bytes = out->at_peak_bytes;
}

void totals_detail_fill(struct snap_detail *out, const struct ht_hist *h)
{
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		out->sizes[i].allocs = h->size_allocs[i];
		out->sizes[i].live_blocks = totals_rest(h->size_allocs[i], h->size_frees[i]);
	}
	memcpy(out->lifetimes, h->life, sizeof(out->lifetimes));
}

void totals_histograms_fill(struct snapshot *h, const struct read_totals *t)
{
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		h->sizes[i] = (struct snap_size){ .live_blocks = totals_rest(
							  t->size_allocs[i], t->size_frees[i]),
			.live_bytes = totals_rest(t->size_alloc_bytes[i], t->size_free_bytes[i]),
			.allocs = t->size_allocs[i] };
	memcpy(h->lifetimes, t->life, sizeof(h->lifetimes));
	h->history_points = t->history.points;
	h->history_step_ns = t->history.step_ns;
	memcpy(h->history, t->history.point, sizeof(h->history));
}
