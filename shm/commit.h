/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory for parts of a segment's file. Each part is committed before it is touched, so that a full
 * /dev/shm is an error code and never a SIGBUS (shm/layout.h). Any thread, also inside hooks: no
 * malloc, no locks.
 */
#ifndef SHM_COMMIT_H
#define SHM_COMMIT_H

#include <errno.h>

#include "shm/segment_types.h"

#define COMMIT_PAGE 4096u /* bytes; the machine's pages (ht_header.page_bytes) may be larger */

/* Commits a range anywhere in the file, and the rest of the machine's pages that it is in,
 * regardless of `committed`. 0, or -ENOMEM. Keeps errno. */
int commit_pages(const struct segment *s, uint64_t offset, uint64_t bytes);
/* The same for a part of the header, which is committed page by page (segment.c). */
int commit_header(const struct segment *s, uint64_t offset, uint64_t bytes);
/* Marks a unit as committed. */
void commit_mark(struct ht_header *h, uint64_t unit);
/* Slow path of commit_range. Keeps errno. */
int commit_slow(const struct segment *s, uint64_t offset, uint64_t bytes);
/* Whether the unit that holds `offset` may be touched as a whole. Relaxed: the bit is only ever
 * set, and its pages exist for every thread of the process once they exist for one. */
static inline bool commit_has(const struct segment *s, uint64_t offset)
{
	uint64_t unit = offset / HT_COMMIT_BYTES;

	return ht_load_relaxed_64(&s->header->committed[unit / 64]) >> (unit % 64) & 1;
}

/* Makes [offset, offset + bytes) safe to touch. 0, or -ENOMEM: nothing may be touched there. */
static inline int commit_range(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	if (__builtin_expect(commit_has(s, offset) && commit_has(s, offset + bytes - 1), 1))
		return 0;
	return commit_slow(s, offset, bytes);
}

/* The bytes from `offset` on, in its unit, that may be touched without committing more. */
uint64_t commit_reach(const struct segment *s, uint64_t offset);

/* A table of elements that are allocated in order, for good. */
struct commit_table {
	uint32_t *used; /* in the header: the next one to allocate */
	enum ht_region_id region;
	uint64_t size; /* of an element */
	uint64_t limit; /* elements at most */
};

/* Allocates the next element; 0: none. Its memory comes first: a lack of memory must not use up the
 * table. Relaxed: indices are published by other words. */
uint32_t commit_take(const struct segment *s, const struct commit_table *t);

#endif
