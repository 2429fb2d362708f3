/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process's mapping of a segment, and the places in it. Memory reached through these must be
 * committed (commit.h). Any thread; no system calls.
 */
#ifndef SHM_SEGMENT_TYPES_H
#define SHM_SEGMENT_TYPES_H

#include <stdalign.h>
#include <stdbool.h>

#include "shm/atomic.h"
#include "shm/layout.h"

/* A region (the first includes the header), and how far it is mapped (shm/mapping.h); in offsets.
 */
struct segment_part {
	alignas(8) uint64_t start;
	uint64_t limit;
	uint64_t mapped; /* its end; only ever raised */
	uint32_t streak, pass; /* refusals of more (shm/backoff.h) */
	uint32_t pages; /* populated: at the region's start (shm/commit.c), or of pieces; only ever
			   raised */
	/* In the first part only, for all regions: */
	uint32_t added; /* ranges in the core view */
	uint64_t taken; /* bytes committed in whole units (shm/commit.c) */
	uint64_t huge_from; /* from so many on huge pages are requested; 0: from the least */
};

/* The place of a piece of the live table in this process, by the hash of the addresses that it
 * covers (shm/live_pieces.h). Edge PLACE. */
struct segment_place {
	uint64_t tag; /* as in header.pieces; 0: none yet */
	uint64_t piece; /* its address; written before `tag` */
};

/* A writable mapping of a segment. Plain data; any number of threads may use one. */
struct segment {
	struct ht_header *header; /* everything else is at its file offset from here */
	uint64_t bytes; /* of the file */
	/* Nonzero while this process has one thread (glibc's __libc_single_threaded), so that
	 * counters need no locked instructions; points to a zero where that is not known. Never
	 * NULL once mapped. */
	const char *single_threaded;
	/* The live table: its first piece, the places of all pieces, and their number - 1. */
	struct ht_piece *pieces;
	struct segment_place *places;
	uint64_t piece_mask;
	/* Blocks of at least so many bytes certainly have 16, 32, 64 bytes of address space to
	 * themselves: what is known of the allocator (segment_extents). From extent_32 on, sizes
	 * below extent_32 + extent_short are stored in one entry. */
	uint64_t extent_16, extent_32, extent_64, extent_short;
	uint64_t most; /* the most address space that it may take; 0: no limit */
	char *core_view; /* offset 0 of the view for core dumps (shm/core_view.h); NULL: none */
	struct segment_part part[HT_REGION_COUNT];
};

HT_HOT void *segment_at(const struct segment *s, uint64_t offset)
{
	return (char *)s->header + offset;
}

/* No segment is a constant: its parts change where everything else is only read. */
static inline struct segment_part *segment_part(const struct segment *s, unsigned region)
{
	return &((struct segment *)(uintptr_t)s)->part[region];
}

/* Offset of element `index` of a region of elements of `size` bytes. */
HT_HOT uint64_t segment_element(
	const struct segment *s, enum ht_region_id region, uint64_t index, uint64_t size)
{
	return s->header->region[region].offset + index * size;
}

/* The number of elements of `size` bytes in a region. */
static inline uint64_t segment_capacity(
	const struct segment *s, enum ht_region_id region, uint64_t size)
{
	return s->header->region[region].bytes / size;
}

/* Bytes of a level of the index whose level 0 has 2^log2 lines. */
static inline uint64_t segment_index_bytes(uint32_t log2, uint32_t level)
{
	return HT_INDEX_SLOTS * (uint64_t)sizeof(uint32_t) << (log2 + HT_INDEX_GROWTH_LOG2 * level);
}

/* Bytes of live level `level`, and its offset in the file. */
static inline uint64_t segment_level_bytes(const struct ht_header *h, uint32_t level)
{
	return (sizeof(struct ht_bucket) << h->live_log2) << 2 * level;
}

static inline uint64_t segment_level_offset(const struct ht_header *h, uint32_t level)
{
	/* 1 + 4 + 16 + ... = (4^level - 1) / 3 levels of the first one's size come before */
	uint64_t before = ((1ull << 2 * level) - 1) / 3;

	return h->region[HT_REGION_LIVE].offset +
	       (sizeof(struct ht_bucket) << h->live_log2) * before;
}

static inline uint32_t segment_level_log2(const struct ht_header *h, uint32_t level)
{
	return h->live_log2 + 2 * level;
}

/* The time that was last published, in ticks since the start. */
HT_HOT uint64_t segment_tick(const struct segment *s)
{
	return (ht_load_relaxed_64(&s->header->clock_ns) - s->header->created_ns) >> HT_TICK_SHIFT;
}

/* The live_birth of a block born then. */
HT_HOT uint32_t segment_birth(const struct segment *s)
{
	return ht_load_relaxed_32(&s->header->clock_birth);
}

/* Adds to a counter that any thread may write. With one thread it needs no lock, but must still be
 * exact when a signal handler frees a block in the middle of it. */
static inline void segment_count(const struct segment *s, uint64_t *counter, uint64_t value)
{
	if (*s->single_threaded)
		ht_add_alone_64(counter, value);
	else
		ht_add_relaxed_64(counter, value);
}

/* The same; returns the new value. */
static inline uint64_t segment_sum(const struct segment *s, uint64_t *counter, uint64_t value)
{
	if (*s->single_threaded)
		return ht_take_add_alone_64(counter, value) + value;
	return ht_add_relaxed_64(counter, value) + value;
}

#endif
