/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Creating, mapping and checking a segment. The viewer's main thread and the library's start-up
 * call this.
 */
#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "shm/commit.h"
#include "shm/core_view.h"
#include "shm/kernel.h"
#include "shm/live_pieces.h"
#include "shm/private.h"
#include "shm/mapping.h"
#include "shm/segment_sizes.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Element 0 of these regions is in use from the start; without it the segment is useless. */
static int starts_commit(const struct segment *s)
{
	static const enum ht_region_id regions[SEGMENT_STARTS] = { HT_REGION_THREADS,
		HT_REGION_MODULES, HT_REGION_STRINGS, HT_REGION_NODES, HT_REGION_SITES,
		HT_REGION_COUNTERS, HT_REGION_OWNERS, HT_REGION_HISTS, HT_REGION_AT_PEAK };

	for (unsigned i = 0; i < sizeof(regions) / sizeof(regions[0]); i++)
		if (commit_range(s, s->header->region[regions[i]].offset, 1) != 0)
			return -ENOSPC;
	return 0;
}

/* Maps and opens the units of one word of `committed`, below the rings. */
static int open_units(const struct segment *s, uint64_t word)
{
	uint64_t bits = ht_load_relaxed_64(&s->header->committed[word]);
	int rc = 0;

	for (; bits != 0 && rc == 0; bits &= bits - 1) {
		uint64_t at = (word * 64 + (unsigned)__builtin_ctzll(bits)) * HT_COMMIT_BYTES;

		if (at < s->header->region[HT_REGION_RINGS].offset)
			rc = mapping_take(s, at, HT_COMMIT_BYTES);
	}
	return rc;
}

/* Maps and opens all committed memory of an existing segment, and finds its pieces. */
static int open_committed(const struct segment *s)
{
	const struct ht_header *h = s->header;
	int rc = starts_commit(s);

	for (uint64_t word = 0; word < HT_COMMITTED_WORDS && rc == 0; word++)
		rc = open_units(s, word);
	for (uint32_t i = 0; i < h->live_pieces_max && rc == 0; i++) {
		if (ht_load_relaxed_64(&h->pieces[i]) == 0)
			break;
		rc = mapping_take(s,
			segment_element(s, HT_REGION_PIECES, i, sizeof(struct ht_piece)),
			sizeof(struct ht_piece));
		if (rc == 0)
			live_pieces_adopt(s, i);
	}
	return rc;
}

void segment_extents(struct segment *s, bool glibc)
{
	/* glibc: 8 more, in units of 16, at least 32 (malloc/malloc.c, request2size); on i386 4
	 * more, in units of 8 before 2.26, at least 16. Others: the size, rounded up to a multiple
	 * of the pointers' alignment. */
	s->extent_16 = glibc ? 0 : 9;
#ifdef __i386__
	s->extent_32 = glibc ? 21 : 25;
	s->extent_64 = glibc ? 53 : 57;
#else
	s->extent_32 = glibc ? 0 : 25;
	s->extent_64 = glibc ? 41 : 57;
#endif
	s->extent_short = HT_ENTRY_SIZE - s->extent_32;
}

/* As another allocator's. Each one that this thread has seen narrow it sees so from then on. */
static bool extents_are_narrow(const struct segment *s)
{
	return ht_load_relaxed_64(&s->extent_short) == HT_ENTRY_SIZE - 25 &&
	       ht_load_relaxed_64(&s->extent_32) == 25 && ht_load_relaxed_64(&s->extent_64) == 57 &&
	       ht_load_relaxed_64(&s->extent_16) == 9;
}

void segment_extents_narrow(struct segment *s)
{
	/* Mostly so: the line is read by all threads. */
	if (extents_are_narrow(s))
		return;
	ht_store_relaxed_64(&s->extent_short, HT_ENTRY_SIZE - 25);
	ht_store_relaxed_64(&s->extent_32, 25);
	ht_store_relaxed_64(&s->extent_64, 57);
	ht_store_relaxed_64(&s->extent_16, 9);
}

/* The number of places for pieces: one even without pieces, so that hooks need no test. */
static uint64_t places_bytes(const struct segment *s)
{
	return (s->piece_mask + 1) * sizeof(struct segment_place);
}

/* Caches values from a checked header. 0 or -ENOMEM. */
static int pieces_start(struct segment *s)
{
	s->pieces = segment_at(s, s->header->region[HT_REGION_PIECES].offset);
	s->piece_mask = s->header->live_pieces_max ? s->header->live_pieces_max - 1 : 0;
	segment_extents(s, false);
	s->places = private_map(places_bytes(s));
	return s->places ? 0 : -ENOMEM;
}

/* Allocates the first `bytes` of the file. An interrupting signal is no failure. */
static int allocate(int fd, uint64_t bytes)
{
	int rc;

	do {
		rc = fallocate(fd, 0, 0, (off_t)bytes);
	} while (rc != 0 && errno == EINTR);
	if (rc == 0)
		return 0;
	return errno == EOPNOTSUPP ? -EOPNOTSUPP : -ENOSPC;
}

/* Whether the file system has room for a start: a segment that begins in less would record little,
 * when another directory may have more. 0 or -ENOSPC. *is_tmpfs: populating a page of its files
 * allocates it, or fails. */
static int room_check(int fd, bool *is_tmpfs)
{
	struct statfs fs;

	*is_tmpfs = false;
	if (fstatfs(fd, &fs) != 0)
		return 0;
	*is_tmpfs = fs.f_type == TMPFS_MAGIC;
	return fs.f_blocks != 0 && fs.f_bfree * (uint64_t)fs.f_bsize < SEGMENT_START_BYTES ? -ENOSPC
											   : 0;
}

/* Populates the header as far as most processes use it: up to the first pieces, and the words for
 * leak scans. The rest, more pieces and what a scan reads, is populated before it is used. */
static int header_populate(const struct segment *s)
{
	const uint64_t part[][2] = {
		{ 0, offsetof(struct ht_header, pieces[1]) },
		{ offsetof(struct ht_header, coop), offsetof(struct ht_header, coop.data) },
	};
	int rc = 0;

	for (unsigned i = 0; i < sizeof(part) / sizeof(part[0]) && rc == 0; i++) {
		uint64_t from = part[i][0] & ~(uint64_t)(kernel_page_bytes() - 1);

		rc = madvise(segment_at(s, from), part[i][1] - from, MADV_POPULATE_WRITE);
	}
	return rc;
}

/* Whether populating is more than a call that succeeds. An emulator of programs (qemu-user) ignores
 * advice that it does not know; then it also accepts it for memory that may not be accessed. */
static bool populate_is_real(const struct segment *s)
{
	const struct segment_part *closed = &s->part[HT_REGION_NODES];

	return madvise(segment_at(s, closed->start), kernel_page_bytes(), MADV_POPULATE_WRITE) != 0;
}

/* Allocates the header's memory, which fails cleanly, before the mapping is first touched. 0, 1:
 * the kernel has no MADV_POPULATE_WRITE, so all of it is there, or -errno. */
static int header_take(const struct segment *s, int fd)
{
	bool is_tmpfs;
	int rc = room_check(fd, &is_tmpfs);

	if (rc != 0)
		return rc;
	if (is_tmpfs && header_populate(s) == 0 && populate_is_real(s))
		return 0;
	rc = allocate(fd, HT_HEADER_BYTES);
	if (rc != 0)
		return rc;
	if (header_populate(s) == 0)
		return populate_is_real(s) ? 0 : 1;
	return errno == EINVAL ? 1 : -ENOSPC;
}

/* Commits all of the segment's memory, for a kernel that cannot populate part of it. */
static int all_take(const struct segment *s, int fd, enum segment_size size)
{
	int rc = size == SEGMENT_SMALL ? allocate(fd, s->bytes) : -EAGAIN;

	for (unsigned i = 0; i < HT_REGION_COUNT && rc == 0; i++)
		rc = mapping_take(s, s->part[i].start, s->part[i].limit - s->part[i].start);
	for (uint64_t unit = 0; unit < s->bytes / HT_COMMIT_BYTES && rc == 0; unit++)
		commit_mark(s->header, unit);
	return rc;
}

static void identity_fill(struct ht_header *h, const struct segment_identity *id)
{
	h->pid = id->pid;
	h->ppid = id->ppid;
	h->uid = id->uid;
	h->exec_gen = id->exec_gen;
	h->depth = id->depth;
	h->start_ticks = id->start_ticks;
	h->created_realtime_ns = id->created_realtime_ns;
	h->created_ns = id->created_ns;
	h->clock_ns = id->created_ns;
	h->family = id->family;
	h->pid_namespace = id->pid_namespace;
	h->sample_bytes = id->sample_bytes;
	h->events_until = id->events_until;
	h->events_wait = id->events_wait;
	h->measure = id->measure;
	h->ignore_round = id->ignore_round;
	h->forked = id->forked;
	h->leak_ask = id->leak_ask;
	__builtin_memcpy(h->boot_id, id->boot_id, sizeof(h->boot_id));
}

/* Creates the catch-all site's counter, which any thread writes, and its histogram. */
static void counter_0_make(struct segment *s)
{
	struct ht_counter *c = segment_at(s, s->header->region[HT_REGION_COUNTERS].offset);

	c->key = ht_counter_key(0, 0, HT_SIZE_ANY);
	c->hist = 1;
	s->header->counters = 1;
	s->header->hists = 2;
}

static int first_elements(struct segment *s)
{
	int rc = starts_commit(s);

	if (rc != 0)
		return rc;
	s->header->nodes = s->header->sites = s->header->modules = s->header->threads = 1;
	s->header->mapped = s->header->mappings = 1;
	counter_0_make(s);
	s->header->strings_bytes = 1; /* offset 0 is the empty string */
	s->header->history.step_ns =
		10000000; /* 10 ms: 256 points show the first 2.5 s of a short run */
	return 0;
}

int segment_create(
	struct segment *s, int fd, enum segment_size size, const struct segment_identity *id)
{
	struct ht_region region[HT_REGION_COUNT];
	struct segment_sizes sizes;
	uint64_t bytes = segment_sizes_choose(size, &sizes);
	int rc = segment_sizes_check(bytes), all;

	segment_sizes_lay_out(&sizes, region);
	if (rc == 0 && ftruncate(fd, (off_t)bytes) != 0)
		rc = -errno;
	if (rc == 0)
		rc = mapping_map(s, fd, region, bytes);
	if (rc != 0)
		return rc;
	rc = all = header_take(s, fd);
	if (rc < 0)
		goto unmap;
	s->header->page_bytes = (uint32_t)kernel_page_bytes();
	segment_sizes_write(s->header, &sizes);
	rc = all ? all_take(s, fd, size) : 0;
	if (rc == 0)
		rc = pieces_start(s);
	if (rc != 0)
		goto unmap;
	identity_fill(s->header, id);
	rc = first_elements(s);
	if (rc != 0)
		goto unmap;
	s->header->version = HT_VERSION;
	s->header->signature = HT_SIGNATURE;
	ht_store_relaxed_32(&s->header->state, HT_STATE_PREPARED);
	ht_store_release_64(&s->header->magic, HT_MAGIC); /* MAGIC: publishes the header */
	return 0;
unmap:
	segment_unmap(s);
	return rc;
}

/* MAGIC: acquire in segment_check. Our own viewer wrote it, so checking in place suffices. */
static int map_checked(struct segment *s, int fd, struct stat *st)
{
	int rc;

	/* Not by a name that glibc has anew since 2.33: an older one may load the library. */
	if (syscall(KERNEL_FSTAT, fd, st) != 0)
		return -errno;
	if ((uint64_t)st->st_size < HT_HEADER_BYTES)
		return -EPROTO;
	rc = mapping_map_header(s, fd);
	if (rc != 0 || segment_check(s->header, (uint64_t)st->st_size))
		return rc;
	segment_unmap(s);
	return -EPROTO;
}

int segment_map(struct segment *s, int fd)
{
	struct ht_region region[HT_REGION_COUNT];
	struct stat st;
	int rc = map_checked(s, fd, &st);

	if (rc != 0)
		return rc;
	__builtin_memcpy(region, s->header->region, sizeof(region));
	segment_unmap(s);
	rc = mapping_map(s, fd, region, (uint64_t)st.st_size);
	if (rc == 0)
		rc = pieces_start(s);
	if (rc == 0)
		rc = open_committed(s);
	if (rc != 0)
		segment_unmap(s);
	return rc;
}

int segment_map_header(struct segment *s, int fd)
{
	struct stat st;

	return map_checked(s, fd, &st);
}

/* Adds what was committed before there was a view. */
static void committed_add(const struct segment *s)
{
	uint64_t units = s->header->region[HT_REGION_RINGS].offset / HT_COMMIT_BYTES;

	for (unsigned i = 0; i < HT_REGION_COUNT; i++)
		if (i != HT_REGION_PIECES && s->part[i].pages > 0)
			core_view_add(s, s->header->region[i].offset,
				(uint64_t)s->part[i].pages * COMMIT_PAGE);
	for (uint64_t unit = 0; unit < units; unit++)
		if (commit_has(s, unit * HT_COMMIT_BYTES))
			core_view_add(s, unit * HT_COMMIT_BYTES, HT_COMMIT_BYTES);
}

int segment_dump(struct segment *s, int fd)
{
	int rc = core_view_map(s, fd);

	if (rc != 0)
		return rc;
	committed_add(s);
	/* Its pages are committed one by one: a dump would allocate the others. */
	rc = commit_pages(s, 0, HT_HEADER_BYTES);
	if (rc != 0)
		core_view_unmap(s);
	return rc;
}

void segment_unmap(struct segment *s)
{
	if (s->places)
		private_unmap(s->places, places_bytes(s));
	s->places = NULL;
	core_view_unmap(s);
	mapping_unmap(s);
}

static bool regions_check(const struct ht_header *h)
{
	uint64_t at = HT_HEADER_BYTES;

	for (int i = 0; i < HT_REGION_COUNT; i++) {
		const struct ht_region *r = &h->region[i];

		if (r->offset != at || r->bytes == 0 || r->bytes % HT_COMMIT_BYTES ||
			r->bytes > h->segment_bytes - at)
			return false;
		at += r->bytes;
	}
	return at == h->segment_bytes;
}

static uint64_t elements(const struct ht_header *h, enum ht_region_id region, uint64_t size)
{
	return h->region[region].bytes / size;
}

/* Tables that share an index must have the same capacity, at least. */
static bool parallel_check(const struct ht_header *h)
{
	return elements(h, HT_REGION_OWNERS, sizeof(uint64_t)) >=
		       elements(h, HT_REGION_COUNTERS, sizeof(struct ht_counter)) &&
	       elements(h, HT_REGION_AT_PEAK, sizeof(struct ht_at_peak)) >=
		       elements(h, HT_REGION_COUNTERS, sizeof(struct ht_counter));
}

/* The bitmap covers all regions but the rings and the pieces, which are last. */
static bool committed_check(const struct ht_header *h)
{
	return h->region[HT_REGION_RINGS].offset <=
	       (uint64_t)HT_COMMITTED_WORDS * 64 * HT_COMMIT_BYTES;
}

/* A probe must not wrap around to its first bucket, and no hash is shifted by all its bits. */
static bool tables_check(const struct ht_header *h)
{
	uint64_t live = 0, index = 0;

	if (h->live_log2 > 24 || 1u << h->live_log2 < HT_PROBE_BUCKETS || h->live_levels_max == 0 ||
		h->live_levels_max > HT_LIVE_LEVELS)
		return false;
	if (h->index_log2 > 24 || h->index_levels == 0 || h->index_levels > HT_INDEX_LEVELS)
		return false;
	if (h->live_pieces_max > HT_PIECES_MAX ||
		(h->live_pieces_max & (h->live_pieces_max - 1)) != 0 ||
		h->live_pieces_max > elements(h, HT_REGION_PIECES, sizeof(struct ht_piece)))
		return false;
	for (uint32_t i = 0; i < h->live_levels_max; i++)
		live += segment_level_bytes(h, i);
	for (uint32_t i = 0; i < h->index_levels; i++)
		index += segment_index_bytes(h->index_log2, i);
	return live <= h->region[HT_REGION_LIVE].bytes && index <= h->region[HT_REGION_INDEX].bytes;
}

bool segment_check(const struct ht_header *h, uint64_t file_bytes)
{
	if (ht_load_acquire_64(&h->magic) != HT_MAGIC) /* MAGIC */
		return false;
	if (h->version != HT_VERSION || h->signature != HT_SIGNATURE)
		return false;
	if (h->segment_bytes > file_bytes || h->segment_bytes < HT_HEADER_BYTES)
		return false;
	return regions_check(h) && committed_check(h) && tables_check(h) && parallel_check(h);
}
