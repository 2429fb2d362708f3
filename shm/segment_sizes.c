/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of a new segment's regions (segment_sizes.h). */
#include "shm/segment_sizes.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "shm/segment_types.h"

/* Under a limit on the file size a segment has fewer rings, at least these: 16 MB. Then it has
 * fewer pieces, at least these: 1 GB of address space. Then it holds fewer stacks, at least these:
 * some 3.5 GB of file. */
#define RINGS_MIN  32u
#define PIECES_MIN 32u
#define SITES_MIN  (1u << 20)

#define INTENDED_MAX 61440u /* the rest of a megabyte: more is no list, but a pool */
/* Functions of allocators inside the program: the largest brings some 100. */
#define PATCHED_MAX 2048u

static const struct segment_sizes table[] = {
	/* 32 M nodes and 4 M stacks; the last level of the overflow alone holds 58 M blocks. 6.3 GB
	   virtual, and 16 for the pieces */
	[SEGMENT_FULL] = { 1024, 16384, 4u << 20, 10, 4, 1u << 25, 1u << 22, 31u << 16, 9, 8,
		HT_PIECES_MAX, 1024, 1u << 16, 1u << 19 },
	/* A tenth of 4 GB: 1 M nodes, 128 K stacks, 4 M blocks in the overflow, and pieces for half
	   a gigabyte of heap */
	[SEGMENT_NARROW] = { 256, 4096, 1u << 20, 10, 3, 1u << 20, 1u << 17, 60u << 10, 9, 6, 16,
		64, 1u << 13, 1u << 16 },
	/* 47 MB in all: leaves room in a 64 MB /dev/shm */
	[SEGMENT_SMALL] = { 128, 1024, 256u << 10, 12, 2, 1u << 18, 1u << 15, 15u << 10, 13, 2, 0,
		16, 1024, 4096 },
};

/* Nodes of this size begin where huge pages do, and so does what follows them up to the live
 * table's overflow: sizes that are powers of two, or multiples of large ones. */
#define ALIGNED_NODES (64ull << 20)

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + HT_COMMIT_BYTES - 1) / HT_COMMIT_BYTES * HT_COMMIT_BYTES;
}

static uint64_t up_to_huge(uint64_t at)
{
	return (HT_HUGE_BYTES - at % HT_HUGE_BYTES) % HT_HUGE_BYTES;
}

/* Computes the size of each region. Returns the size of the file. */
static uint64_t regions_size(const struct segment_sizes *p, uint64_t bytes[HT_REGION_COUNT])
{
	const uint64_t fixed[HT_REGION_COUNT] = {
		[HT_REGION_THREADS] = (uint64_t)p->threads * sizeof(struct ht_thread),
		[HT_REGION_MODULES] = (uint64_t)p->modules * sizeof(struct ht_module),
		[HT_REGION_STRINGS] = p->strings,
		[HT_REGION_NODES] = (uint64_t)p->nodes * sizeof(struct ht_node),
		[HT_REGION_SITES] = (uint64_t)p->sites * sizeof(struct ht_site),
		/* half of them are slot 0's, one for each site */
		[HT_REGION_COUNTERS] = 2ull * p->sites * sizeof(struct ht_counter),
		[HT_REGION_OWNERS] = 2ull * p->sites * sizeof(uint64_t),
		[HT_REGION_HISTS] = (uint64_t)p->hists * sizeof(struct ht_hist),
		[HT_REGION_VARIANCES] = 2ull * p->sites * sizeof(struct ht_variance),
		[HT_REGION_AT_PEAK] = 2ull * p->sites * sizeof(struct ht_at_peak),
		[HT_REGION_PATCHED] = PATCHED_MAX * sizeof(struct ht_patched),
		[HT_REGION_MAPPED] = (uint64_t)p->mapped * sizeof(struct ht_mapped),
		[HT_REGION_MAPPINGS] = (uint64_t)p->mappings * sizeof(struct ht_mapping),
		[HT_REGION_WRONG_FREES] = sizeof(struct ht_wrong_frees),
		[HT_REGION_BEFORE] = sizeof(struct ht_before),
		[HT_REGION_PIECES] = p->pieces ? p->pieces * sizeof(struct ht_piece) : 1,
		[HT_REGION_NOTES] = HT_NOTES * sizeof(struct ht_note) +
				    INTENDED_MAX * sizeof(struct ht_intended),
		[HT_REGION_RINGS] = (uint64_t)p->rings * HT_RING_EVENTS * sizeof(struct ht_event),
	};
	uint64_t all = HT_HEADER_BYTES, live = 0, index = 0;

	for (uint32_t i = 0; i < p->index_levels; i++)
		index += segment_index_bytes(p->index_log2, i);
	for (uint32_t i = 0; i < p->live_levels; i++)
		live += (sizeof(struct ht_bucket) << p->live_log2) << 2 * i;
	for (int i = 0; i < HT_REGION_COUNT; i++) {
		bytes[i] = round_up(i == HT_REGION_LIVE	   ? live
				    : i == HT_REGION_INDEX ? index
							   : fixed[i]);
		if (i == HT_REGION_INDEX && fixed[HT_REGION_NODES] >= ALIGNED_NODES)
			bytes[i] += up_to_huge(all + bytes[i]);
		all += bytes[i];
	}
	return all;
}

uint64_t segment_sizes_lay_out(
	const struct segment_sizes *p, struct ht_region region[HT_REGION_COUNT])
{
	uint64_t bytes[HT_REGION_COUNT], at = HT_HEADER_BYTES, all = regions_size(p, bytes);

	for (int i = 0; i < HT_REGION_COUNT; i++) {
		region[i] = (struct ht_region){ .offset = at, .bytes = bytes[i] };
		at += bytes[i];
	}
	return all;
}

void segment_sizes_write(struct ht_header *h, const struct segment_sizes *p)
{
	h->segment_bytes = segment_sizes_lay_out(p, h->region);
	h->live_log2 = p->live_log2;
	h->live_levels_max = p->live_levels;
	h->live_pieces_max = p->pieces;
	h->index_log2 = p->index_log2;
	h->index_levels = p->index_levels;
}

int segment_sizes_check(uint64_t bytes)
{
	struct rlimit limit;

	/* Past the limit ftruncate would raise SIGXFSZ in the program. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
		return -EFBIG;
	return 0;
}

/* Halves what matters least of what a segment can do without. False: there is nothing left. */
static bool sizes_shrink(struct segment_sizes *p)
{
	if (p->rings > RINGS_MIN) {
		p->rings /= 2;
		return true;
	}
	if (p->pieces > PIECES_MIN) {
		p->pieces /= 2;
		return true;
	}
	if (p->sites <= SITES_MIN)
		return false;
	p->sites /= 2;
	p->nodes /= 2;
	p->hists /= 2;
	return true;
}

uint64_t segment_sizes_choose(enum segment_size size, struct segment_sizes *p)
{
	uint64_t bytes[HT_REGION_COUNT], all;

	*p = table[size];
	do {
		all = regions_size(p, bytes);
	} while (segment_sizes_check(all) != 0 && sizes_shrink(p));
	return all;
}
