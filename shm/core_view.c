/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The view of a segment that a core dump takes (core_view.h). core_view_add runs inside hooks, on
 * any thread, and may only make system calls. Source: the kernel's fs/coredump.c, vma_dump_size.
 */
#include "shm/core_view.h"

#include <errno.h>

#include "shm/kernel.h"
#include "shm/mapping.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE 4096u
/* Its distance below the segment: more than the places of the segments of forked processes. */
#define PLACES_BELOW 16u
/*
 * Each range added apart from the others splits a mapping, and a process may have some 65,000. So
 * the first are exact. Then each step doubles the granule, whose memory is committed as a whole:
 * 7,600 ranges cover the largest segment, and a granule is less than a hundredth of what was added
 * before.
 */
#define EXACT_RANGES 2048u
#define STEP_RANGES  512u
#define STEPS_MOST   8u /* 16 MB */

static char *view_at(const struct segment *s, uint64_t at)
{
	return s->core_view + at;
}

/* Writes the first page, so that the mapping counts as private memory, and drops the copy that this
 * makes: it shows the file again. */
static int view_write(char *view)
{
	if (mprotect(view, PAGE, PROT_READ | PROT_WRITE) != 0)
		return -errno;
	*(volatile char *)view = 0;
	if (madvise(view, PAGE, MADV_DONTNEED) != 0 || mprotect(view, PAGE, PROT_NONE) != 0)
		return -errno;
	return 0;
}

int core_view_map(struct segment *s, int fd)
{
	char *hint = (char *)s->header - PLACES_BELOW * s->bytes, *view;
	int rc;

	/* A program of 32 bits needs its address space, and no viewer reads its core. */
	if (s->most != 0 || UINTPTR_MAX == UINT32_MAX)
		return -ENOMEM;
	view = kernel_mmap((uintptr_t)s->header > PLACES_BELOW * s->bytes ? hint : NULL, s->bytes,
		PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (view == MAP_FAILED)
		return -errno;
	rc = view_write(view);
	if (rc == 0 && (madvise(view, s->bytes, MADV_DONTDUMP) != 0 ||
			       madvise(view, s->bytes, MADV_DONTFORK) != 0))
		rc = -errno;
	if (rc != 0) {
		kernel_munmap(view, s->bytes);
		return rc;
	}
	s->core_view = view;
	return 0;
}

/* The size of the granules after so many ranges; 0: exact. */
static uint64_t granule_of(uint32_t ranges)
{
	uint32_t step = ranges < EXACT_RANGES ? 0 : (ranges - EXACT_RANGES) / STEP_RANGES + 1;

	return step == 0 ? 0 : (uint64_t)HT_COMMIT_BYTES << (step < STEPS_MOST ? step : STEPS_MOST);
}

/* Extends [*at, *end) to whole granules of its region, and commits what this adds. Left as it is
 * if that fails. */
static void widen(const struct segment *s, uint64_t *at, uint64_t *end, uint64_t granule)
{
	const struct segment_part *p = segment_part(s, mapping_region(s, *at));
	uint64_t from = p->start + (*at - p->start) / granule * granule;
	uint64_t to = p->start + (*end - p->start + granule - 1) / granule * granule;

	if (to > p->limit)
		to = p->limit;
	if (mapping_take(s, from, to - from) != 0 ||
		madvise(segment_at(s, from), to - from, MADV_POPULATE_WRITE) != 0)
		return;
	*at = from;
	*end = to;
}

void core_view_add(const struct segment *s, uint64_t at, uint64_t bytes)
{
	uint64_t end = at + bytes, granule;
	uint32_t region;

	if (!s->core_view)
		return;
	region = mapping_region(s, at);
	/* Only the library reads the index. */
	if (region == HT_REGION_INDEX)
		return;
	/* Relaxed: a bound. */
	granule = granule_of(ht_add_relaxed_32(&segment_part(s, 0)->added, 1));
	if (granule != 0)
		widen(s, &at, &end, granule);
	madvise(view_at(s, at), end - at, MADV_DODUMP);
}

void core_view_forget(struct segment *s)
{
	s->core_view = NULL;
}

void core_view_unmap(struct segment *s)
{
	if (s->core_view)
		kernel_munmap(s->core_view, s->bytes);
	s->core_view = NULL;
}
