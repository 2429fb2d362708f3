/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mapping a segment as far as it is used (mapping.h). mapping_reach and mapping_open run inside
 * hooks, on any thread, and may only make system calls there.
 */
#include "shm/mapping.h"

#include <errno.h>
#include <sys/resource.h>

#include "shm/backoff.h"
#include "shm/kernel.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Size of a window: each is a separate mapping at worst, and a process may have some 65,000. */
#define OPEN_BYTES (1u << 20)
/* A step is at least this, else a quarter of the region's size. So a small program pays for little
 * more than that per region, and a table of gigabytes takes some forty steps. */
#define STEP_LEAST (256u << 10)
#define STEP_PART  4u
/* The tail of a region's mapping stays closed while it can grow: an extension inherits that. */
#define TAIL_BYTES HT_COMMIT_BYTES
/* The part of the program's address space limit that a segment may take, a quarter: the rest is for
 * the program, which would have all of it without us. */
#define LIMIT_PARTS 4u
/* The distance of a segment from the library. Within the 1.5 TB that the thread sanitizer allows a
 * program to have mappings in. */
#if UINTPTR_MAX == UINT32_MAX
#define FAR_BYTES (1ull << 30) /* leaves the program's mappings that much together */
#else
#define FAR_BYTES (256ull << 30)
#endif
/* Places tried there: a child of fork has its parent's segment in the first, or second. */
#define PLACES 8u
/* Longer than any mapping can be. */
#if UINTPTR_MAX == UINT32_MAX
#define ENDLESS (3ull << 30)
#else
#define ENDLESS (1ull << 46)
#endif
/* What a segment may take of the address space: of 4 GB, if that is all, a quarter. */
#define SPACE_MOST (UINTPTR_MAX / 4)

/* The end of a part's mapping after the next step. Depends on nothing else. */
static uint64_t step_after(const struct segment_part *p, uint64_t end)
{
	uint64_t step = (end - p->start) / STEP_PART;

	step = (step + HT_COMMIT_BYTES - 1) / HT_COMMIT_BYTES * HT_COMMIT_BYTES;
	if (step < STEP_LEAST)
		step = STEP_LEAST;
	return step < p->limit - end ? end + step : p->limit;
}

/* The end of the part that may be opened, when it is mapped to `end`. */
static uint64_t usable_end(const struct segment_part *p, uint64_t end)
{
	return end == p->limit ? end : end - TAIL_BYTES;
}

uint32_t mapping_region(const struct segment *s, uint64_t at)
{
	uint32_t low = 0;

	for (uint32_t step = 16; step != 0; step /= 2)
		if (low + step < HT_REGION_COUNT && at >= s->part[low + step].start)
			low += step;
	return low;
}

static struct segment_part *part_at(const struct segment *s, uint64_t at)
{
	return segment_part(s, mapping_region(s, at));
}

static_assert(HT_REGION_COUNT <= 32, "mapping_region");

/* ---- growing ---- */

/* Whether the segment may take `more`: not beyond our part of the limit at the start. */
static bool is_allowed(const struct segment *s, uint64_t more)
{
	uint64_t all = more;

	if (s->most == 0)
		return true;
	for (unsigned i = 0; i < HT_REGION_COUNT; i++)
		all += ht_load_relaxed_64(&s->part[i].mapped) - s->part[i].start;
	return all <= s->most;
}

/*
 * Whether the mapping that ends at `end`, as far as is known, really extends to `next`. Tests that
 * by a request to make it longer than any can be: the kernel refuses with EFAULT if it ends before
 * `next` (mm/mremap.c, "We can't remap across vm area boundaries"), and otherwise for lack of room.
 */
static bool was_extended(const struct segment *s, uint64_t end, uint64_t next)
{
	void *tail = segment_at(s, end - TAIL_BYTES);
	int saved = errno;
	/* A sandbox may refuse the call as such, and valgrind such a length (EINVAL). */
	bool was = kernel_mremap(tail, TAIL_BYTES + next - end, ENDLESS, 0, NULL) == MAP_FAILED &&
		   errno != EFAULT && errno != EPERM && errno != EACCES && errno != ENOSYS &&
		   errno != EINVAL;

	errno = saved;
	return was;
}

static bool extend(const struct segment *s, uint64_t end, uint64_t next)
{
	void *tail = segment_at(s, end - TAIL_BYTES);

	return kernel_mremap(tail, TAIL_BYTES, TAIL_BYTES + next - end, 0, NULL) != MAP_FAILED ||
	       was_extended(s, end, next);
}

/* Takes the step after `end`. Each part counts its own refusals: an obstacle of one is none of the
 * others. */
static bool step_take(const struct segment *s, struct segment_part *p, uint64_t end)
{
	uint64_t next = step_after(p, end);

	if (!is_allowed(s, next - end) || backoff_skip(&p->pass))
		return false;
	if (!extend(s, end, next)) {
		backoff_failed(&p->streak, &p->pass);
		return false;
	}
	backoff_reset(&p->streak);
	/* If `mapped` is no longer `end`, another thread has noted this step, and perhaps the next.
	 * Relaxed: the kernel keeps the mapping, for all. */
	(void)ht_cas_relaxed_64(&p->mapped, &end, next);
	return true;
}

int mapping_reach(const struct segment *s, uint64_t at, uint64_t bytes)
{
	struct segment_part *p = part_at(s, at);
	uint64_t end = ht_load_relaxed_64(&p->mapped);

	while (usable_end(p, end) < at + bytes) {
		/* If it cannot be taken, another thread may have been ahead. What that thread noted
		 * before it opened a window is visible here: both held the kernel's lock on the
		 * address space. */
		if (!step_take(s, p, end) && ht_load_relaxed_64(&p->mapped) == end)
			return -ENOMEM;
		end = ht_load_relaxed_64(&p->mapped);
	}
	return 0;
}

int mapping_open(const struct segment *s, uint64_t at, uint64_t bytes)
{
	const struct segment_part *p = part_at(s, at);
	uint64_t start = at / OPEN_BYTES * OPEN_BYTES;
	uint64_t end = (at + bytes + OPEN_BYTES - 1) / OPEN_BYTES * OPEN_BYTES;
	uint64_t most = usable_end(p, ht_load_relaxed_64(&p->mapped));

	if (start < p->start)
		start = p->start;
	if (end > most)
		end = most;
	return mprotect(segment_at(s, start), end - start, PROT_READ | PROT_WRITE) == 0 ? 0
											: -errno;
}

int mapping_take(const struct segment *s, uint64_t at, uint64_t bytes)
{
	int rc = mapping_reach(s, at, bytes);

	return rc != 0 ? rc : mapping_open(s, at, bytes);
}

/* ---- the whole ---- */

unsigned mapping_ranges(const struct segment *s, struct mapping_range *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < HT_REGION_COUNT; i++) {
		const struct segment_part *p = &s->part[i];
		uint64_t end = ht_load_relaxed_64(&p->mapped);

		if (end > p->start)
			out[n++] = (struct mapping_range){ p->start, end - p->start };
	}
	return n;
}

unsigned mapping_ranges_forked(struct segment *s, struct mapping_range *out)
{
	for (unsigned i = 0; i < HT_REGION_COUNT; i++) {
		struct segment_part *p = &s->part[i];
		uint64_t next = step_after(p, p->mapped);

		if (next != p->mapped && was_extended(s, p->mapped, next))
			p->mapped = next;
	}
	return mapping_ranges(s, out);
}

void mapping_unmap(struct segment *s)
{
	struct mapping_range range[HT_REGION_COUNT];
	unsigned n;

	if (!s->header)
		return;
	n = mapping_ranges(s, range);
	for (unsigned i = 0; i < n; i++)
		kernel_munmap(segment_at(s, range[i].at), range[i].bytes);
	s->header = NULL;
	s->bytes = 0;
}

/* The segment's part of a limit on the address space; 0: there is none. */
static uint64_t most_of(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return limit.rlim_cur / LIMIT_PARTS + 1;
}

/* A place where mappings disturb least, and have room to grow: far below the libraries, since the
 * program's own mappings follow downwards. Between those they would spread them apart, and be in
 * each other's way. Huge pages of the file fit it. */
static char *place_of(uint64_t bytes, unsigned number)
{
	static const char here;
	uintptr_t at = (uintptr_t)&here & ~(uintptr_t)(HT_HUGE_BYTES - 1);
	uint64_t below = FAR_BYTES + (number + 1) * ((bytes | (HT_HUGE_BYTES - 1)) + 1);

	return at > 2 * below ? (char *)(at - (uintptr_t)below) : NULL;
}

/* Maps a range of the file at one place and no other, and keeps it out of core dumps. An extension
 * inherits that, and the parts into which it is opened, which are more expensive to mark. Kernels
 * before 4.17 take the place as a hint. */
static int range_map(char *at, int fd, uint64_t offset, uint64_t bytes)
{
	void *p = kernel_mmap(at, bytes, PROT_NONE,
		MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return -errno;
	if (p != (void *)at) {
		kernel_munmap(p, bytes);
		return -EEXIST;
	}
	madvise(p, bytes, MADV_DONTDUMP);
	return 0;
}

/* A place where the kernel has room for all of it, which is given back at once. */
static char *place_any(uint64_t bytes)
{
	void *p = kernel_mmap(
		NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	kernel_munmap(p, bytes);
	return p;
}

/* The size of a region's first mapping. The first block needs a piece. */
static uint64_t first_bytes(const struct ht_region *region, unsigned i)
{
	uint64_t bytes = i == HT_REGION_PIECES ? sizeof(struct ht_piece) + TAIL_BYTES : STEP_LEAST;

	return bytes < region[i].bytes ? bytes : region[i].bytes;
}

/* Plans the parts. Returns the bytes to map at first. */
static uint64_t parts_plan(struct segment *s, const struct ht_region *region)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < HT_REGION_COUNT; i++) {
		struct segment_part *p = &s->part[i];

		*p = (struct segment_part){ .start = i == 0 ? 0 : region[i].offset,
			.limit = region[i].offset + region[i].bytes };
		p->mapped = region[i].offset + first_bytes(region, i);
		all += p->mapped - p->start;
	}
	return all;
}

/* The part behind those from `i` on that are side by side, and so are one mapping. */
static unsigned parts_beside(const struct segment_part *p, unsigned i)
{
	while (++i < HT_REGION_COUNT && p[i].start == p[i - 1].mapped)
		;
	return i;
}

/* All parts, at their distances from `base`; or none. */
static int parts_map(const struct segment *s, char *base, int fd)
{
	const struct segment_part *p = s->part;
	unsigned i = 0, next;
	int rc = 0;

	for (; i < HT_REGION_COUNT; i = next) {
		next = parts_beside(p, i);
		rc = range_map(base + p[i].start, fd, p[i].start, p[next - 1].mapped - p[i].start);
		if (rc != 0)
			break;
	}
	for (; rc != 0 && i > 0; i--)
		kernel_munmap(base + p[i - 1].start, p[i - 1].mapped - p[i - 1].start);
	return rc;
}

static void fresh(struct segment *s)
{
	*s = (struct segment){ .single_threaded = "" /* a zero: assume many */ };
}

int mapping_map(struct segment *s, int fd, const struct ht_region *region, uint64_t bytes)
{
	char *base = NULL;
	int rc = -EEXIST;

	if (bytes > SPACE_MOST)
		return -ENOMEM;
	fresh(s);
	s->most = most_of();
	/* As much again must be left for growth: else little would be recorded. */
	if (2 * parts_plan(s, region) > s->most && s->most != 0)
		return -ENOMEM;
	for (unsigned i = 0; i <= PLACES && rc == -EEXIST; i++) {
		base = i < PLACES ? place_of(bytes, i) : place_any(bytes);
		if (base)
			rc = parts_map(s, base, fd);
	}
	if (rc != 0)
		return rc == -EEXIST ? -ENOMEM : rc;
	s->header = (void *)base;
	s->bytes = bytes;
	rc = mapping_open(s, 0, HT_HEADER_BYTES);
	if (rc != 0)
		mapping_unmap(s);
	return rc;
}

int mapping_map_header(struct segment *s, int fd)
{
	void *p = kernel_mmap(NULL, HT_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	fresh(s);
	if (p == MAP_FAILED)
		return -errno;
	s->header = p;
	s->bytes = HT_HEADER_BYTES;
	s->part[0].limit = s->part[0].mapped = HT_HEADER_BYTES;
	return 0;
}
