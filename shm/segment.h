/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making, mapping and checking a segment, and taking memory for it. Used by the viewer to prepare
 * one and by the library to fill it. No malloc, no stdio, no locks; errno may change (hooks save
 * it).
 */
#ifndef SHM_SEGMENT_H
#define SHM_SEGMENT_H

#include <errno.h>
#include <stdbool.h>
#include "shm/atomic.h"
#include "shm/layout.h"

/* A region, the header with the first, and how far it is mapped (shm/space.h); in offsets. */
struct segment_part {
	uint64_t start, limit;
	uint64_t mapped; /* its end; only ever raised */
	uint32_t streak, pass; /* refusals of more (shm/refusal.h) */
};

/* Where a piece of the live table is in this process, by the hash of the addresses that it covers
 * (shm/pieces.h). Edge PLACE. */
struct segment_place {
	uint64_t tag; /* as in header.pieces; 0: none yet */
	uint64_t piece; /* its address; written before `tag` */
};

/* A writable mapping of a segment. Plain data; any number of threads may use one. */
struct segment {
	struct ht_header *header; /* all else is at the distance from it that it has in the file */
	uint64_t bytes; /* of the file */
	/* Nonzero while this process has one thread (glibc's __libc_single_threaded), so that
	 * counters need no locked instructions; points to a zero where that is not known. Never
	 * NULL once mapped. */
	const char *single_threaded;
	/* Of the live table: the first piece, where all are, and how many of them there may be - 1.
	 */
	struct ht_piece *pieces;
	struct segment_place *places;
	uint64_t piece_mask;
	/* Blocks of at least so many bytes surely have 16, 32, 64 bytes of address space to
	 * themselves: what is known of the allocator (segment_extents). From extent_32 on, sizes
	 * below extent_32 + extent_short are told in one entry. */
	uint64_t extent_16, extent_32, extent_64, extent_short;
	uint64_t most; /* of the process's address space; 0: no limit */
	struct segment_part part[HT_REGION_COUNT];
};

/*
 * SEGMENT_FULL is sparse and takes memory as it grows (up to ~60 million blocks in the overflow
 * alone, a million sites). Its live table covers 64 GB of the address space, or less under limits.
 * SEGMENT_SMALL fits everything into 48 MB, for kernels that cannot populate a range on request
 * (before Linux 5.14, where all of it is allocated at once) and for tight limits.
 */
enum segment_size { SEGMENT_FULL, SEGMENT_SMALL };

/* What a SEGMENT_FULL takes when it is made: the header, and the first unit of each of the regions
 * that are in use from the start. */
#define SEGMENT_STARTS	    8u
#define SEGMENT_START_BYTES (HT_HEADER_BYTES + SEGMENT_STARTS * HT_COMMIT_BYTES)

struct segment_identity {
	uint32_t pid, ppid, uid, exec_gen, depth;
	uint64_t start_ticks, created_realtime_ns, created_ns, family, pid_namespace;
	uint8_t boot_id[16];
	uint64_t sample_bytes; /* how to record at first; 0: exactly */
	uint32_t measure;
	uint32_t forked;
	uint32_t leak_ask; /* HT_LEAK_ASK_*: wait for a leak scan at the end */
};

/*
 * Makes a segment in the empty file `fd`: sets its size, takes the first memory, maps it, fills the
 * header (state PREPARED) and writes the magic last. The caller keeps `fd`. 0, -ENOSPC when there
 * is no memory for the start, -EFBIG over RLIMIT_FSIZE, -ENOMEM when its beginning would take more
 * than an eighth of RLIMIT_AS, or -errno.
 */
int segment_create(
	struct segment *s, int fd, enum segment_size size, const struct segment_identity *id);
/* Maps an existing segment for writing. 0, -EPROTO when it is no segment of this version, or
 * -errno. */
int segment_map(struct segment *s, int fd);
/* The same of its header only. */
int segment_map_header(struct segment *s, int fd);
void segment_unmap(struct segment *s);
/*
 * True when a header (a private copy of it) describes a segment of this version that fits a file of
 * `file_bytes`: all offsets and sizes can then be trusted.
 */
bool segment_check(const struct ht_header *h, uint64_t file_bytes);
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

/* Takes memory for a range of whole pages anywhere in the file, whatever `committed` says. 0, or
 * -ENOMEM. Keeps errno. */
int segment_populate_pages(const struct segment *s, uint64_t offset, uint64_t bytes);
/* Slow path of segment_commit. Keeps errno. */
int segment_populate(const struct segment *s, uint64_t offset, uint64_t bytes);
/*
 * Says which allocator the blocks come from: glibc's, which puts its own 8 bytes before each and
 * makes none of less than 32, or another, of which nothing is known but that blocks do not overlap,
 * and start at multiples of 8 where that matters. The latter holds until this is called.
 */
void segment_extents(struct segment *s, bool glibc);

/* The time now, as the program last heard, in ticks since the start. */
HT_HOT uint64_t segment_tick(const struct segment *s)
{
	return (ht_load_relaxed_64(&s->header->clock_ns) - s->header->created_ns) >> HT_TICK_SHIFT;
}

/* Whether the unit that holds `offset` may be touched. Relaxed: the bit only ever gets set, and the
 * pages it speaks of are there for every thread of the process once they are there for one. */
static inline bool segment_has(const struct segment *s, uint64_t offset)
{
	uint64_t unit = offset / HT_COMMIT_BYTES;

	return ht_load_relaxed_64(&s->header->committed[unit / 64]) >> (unit % 64) & 1;
}

/* Makes [offset, offset + bytes) safe to touch. 0, or -ENOMEM: nothing may be touched there. */
static inline int segment_commit(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	if (__builtin_expect(segment_has(s, offset) && segment_has(s, offset + bytes - 1), 1))
		return 0;
	return segment_populate(s, offset, bytes);
}

/*
 * Adds to a counter that any thread may write. With one thread it needs not be locked, but must
 * still be exact when a signal handler frees a block in the middle of it.
 */
static inline void segment_count(const struct segment *s, uint64_t *counter, uint64_t value)
{
	if (*s->single_threaded)
		ht_add_alone_64(counter, value);
	else
		ht_add_relaxed_64(counter, value);
}

/* The same; returns what the counter is then. */
static inline uint64_t segment_sum(const struct segment *s, uint64_t *counter, uint64_t value)
{
	if (*s->single_threaded)
		return ht_take_add_alone_64(counter, value) + value;
	return ht_add_relaxed_64(counter, value) + value;
}

HT_HOT void *segment_at(const struct segment *s, uint64_t offset)
{
	return (char *)s->header + offset;
}

/* Offset of element `index` of a region of elements of `size` bytes. */
HT_HOT uint64_t segment_element(
	const struct segment *s, enum ht_region_id region, uint64_t index, uint64_t size)
{
	return s->header->region[region].offset + index * size;
}

/* A table whose elements are given out one after another, for good. */
struct segment_table {
	uint32_t *used; /* in the header: the next one to give out */
	enum ht_region_id region;
	uint64_t size; /* of an element */
	uint64_t limit; /* elements to give out at most */
};

/* How many elements of `size` bytes a region has room for. */
static inline uint64_t segment_room(
	const struct segment *s, enum ht_region_id region, uint64_t size)
{
	return s->header->region[region].bytes / size;
}

/*
 * The next unused element, or 0. Its memory is taken first: while there is none, what comes again
 * and again must not use up the table. Relaxed: indices are published by other words.
 */
uint32_t segment_take(const struct segment *s, const struct segment_table *t);

#endif
