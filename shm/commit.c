/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for parts of a segment (commit.h). */
#include "shm/commit.h"

#include <sys/mman.h>
#include <time.h>

#include "shm/backoff.h"
#include "shm/core_view.h"
#include "shm/mapping.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define UNIT_PAGES (HT_COMMIT_BYTES / COMMIT_PAGE)
/* The regions that fill up from their start. Most processes need little of those, and pay for each
 * page: so their first unit is committed in parts, each as large as all before it. */
#define FILLS_UP                                                                                   \
	(1u << HT_REGION_THREADS | 1u << HT_REGION_MODULES | 1u << HT_REGION_STRINGS |             \
		1u << HT_REGION_NODES | 1u << HT_REGION_SITES | 1u << HT_REGION_COUNTERS |         \
		1u << HT_REGION_OWNERS | 1u << HT_REGION_HISTS | 1u << HT_REGION_VARIANCES |       \
		1u << HT_REGION_AT_PEAK | 1u << HT_REGION_PATCHED | 1u << HT_REGION_MAPPED |       \
		1u << HT_REGION_MAPPINGS | 1u << HT_REGION_NOTES)

/* Those of them that are this large take huge pages, once all units together are: what is taken too
 * early is little then. */
#define HUGE_TABLE (2 * HT_HUGE_BYTES)
#define HUGE_FROM  (32 * HT_HUGE_BYTES)
#define HUGE_UNITS (HT_HUGE_BYTES / HT_COMMIT_BYTES)
/* A kernel that takes longer for one looks for memory: what it costs is then more than it saves.
 * Several ticks of a coarse clock. */
#define HUGE_SLOW_NS 30000000

void commit_mark(struct ht_header *h, uint64_t unit)
{
	ht_or_relaxed_64(&h->committed[unit / 64], 1ull << (unit % 64));
}

/* The same, and counts it, some units twice. */
static void unit_mark(const struct segment *s, uint64_t unit)
{
	commit_mark(s->header, unit);
	ht_add_relaxed_64(&segment_part(s, 0)->taken, HT_COMMIT_BYTES);
}

static int range_populate(const struct segment *s, uint64_t at, uint64_t bytes)
{
	return madvise(segment_at(s, at), bytes, MADV_POPULATE_WRITE);
}

/* Makes a mapped range accessible, and populates it. */
static int range_take(const struct segment *s, uint64_t at, uint64_t bytes)
{
	int rc = range_populate(s, at, bytes);

	/* EINVAL: part of it is not accessible yet. */
	if (rc != 0 && errno == EINVAL && mapping_open(s, at, bytes) == 0)
		rc = range_populate(s, at, bytes);
	return rc;
}

/* The same, unless a previous failure makes it back off. */
static bool range_try(const struct segment *s, uint64_t at, uint64_t bytes)
{
	struct ht_header *h = s->header;

	if (mapping_reach(s, at, bytes) != 0) {
		ht_add_relaxed_64(&h->space_refused, 1);
		return false;
	}
	if (backoff_skip(&h->commit_pass))
		return false;
	if (range_take(s, at, bytes) != 0) {
		backoff_failed(&h->commit_streak, &h->commit_pass);
		return false;
	}
	backoff_reset(&h->commit_streak);
	core_view_add(s, at, bytes);
	return true;
}

/* Regions begin at multiples of HT_COMMIT_BYTES, which no machine's page exceeds. */
int commit_pages(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	const uint64_t in_page = s->header->page_bytes - 1;
	uint64_t from = offset & ~in_page, end = (offset + bytes + in_page) & ~in_page;
	int saved = errno;
	bool taken = range_try(s, from, end - from);

	errno = saved;
	if (!taken)
		ht_add_relaxed_64(&s->header->commit_failed, 1);
	return taken ? 0 : -ENOMEM;
}

int commit_header(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset / COMMIT_PAGE,
		 end = (offset + bytes + COMMIT_PAGE - 1) / COMMIT_PAGE;

	if (commit_has(s, 0))
		return 0;
	return commit_pages(s, first * COMMIT_PAGE, (end - first) * COMMIT_PAGE);
}

/* The region that begins with this unit, if it fills up from its start; or NULL. */
static struct segment_part *start_of(const struct segment *s, uint64_t unit)
{
	uint32_t region = mapping_region(s, unit * HT_COMMIT_BYTES);

	if (!(FILLS_UP >> region & 1) || s->header->region[region].offset != unit * HT_COMMIT_BYTES)
		return NULL;
	return segment_part(s, region);
}

static void pages_raise(struct segment_part *p, uint32_t pages)
{
	uint32_t now = ht_load_relaxed_32(&p->pages);

	while (now < pages && !ht_cas_relaxed_32(&p->pages, &now, pages))
		;
}

/* The number of pages to commit at a region's start, when `needed` are: whole ones of the machine.
 */
static uint32_t start_pages(const struct segment *s, uint32_t had, uint32_t needed)
{
	uint32_t pages = 2 * had > needed ? 2 * had : needed;
	uint32_t whole = s->header->page_bytes / COMMIT_PAGE;

	pages = (pages + whole - 1) & ~(whole - 1);
	return pages < UNIT_PAGES ? pages : UNIT_PAGES;
}

/* Opens a region whose start is mapped, and mostly closed. If that fails, so will what follows. */
static void start_open(const struct segment *s, uint64_t at)
{
	int saved = errno;

	mapping_open(s, at, 1);
	errno = saved;
}

/* Commits the unit up to its byte `end`, and what is before that. Relaxed: as with the unit's bit.
 */
static int start_commit(
	const struct segment *s, struct segment_part *p, uint64_t unit, uint64_t end)
{
	uint32_t had = ht_load_relaxed_32(&p->pages);
	uint32_t needed = (uint32_t)((end + COMMIT_PAGE - 1) / COMMIT_PAGE), pages;

	if (needed <= had)
		return 0;
	pages = start_pages(s, had, needed);
	if (had == 0)
		start_open(s, unit * HT_COMMIT_BYTES);
	if (commit_pages(s, unit * HT_COMMIT_BYTES + had * COMMIT_PAGE,
		    (uint64_t)(pages - had) * COMMIT_PAGE) != 0)
		return -ENOMEM;
	pages_raise(p, pages);
	if (pages == UNIT_PAGES)
		unit_mark(s, unit);
	return 0;
}

/*
 * Huge pages. Hundreds of thousands of stacks take their memory in a fraction of the time by them:
 * populating pages one by one takes longer, and under some hypervisors the first touch of each
 * takes microseconds more. The kernel makes one on request (Linux 6.1), also where it does not in
 * /dev/shm by itself (shmem_enabled).
 */

/* Whether the memory at `at`, where a huge page can begin, is to be one. */
static bool huge_is_due(const struct segment *s, uint32_t region, uint64_t at)
{
	const struct segment_part *p = &s->part[region], *all = &s->part[0];
	uint64_t from = ht_load_relaxed_64(&all->huge_from);

	/* A limited address space is for what is needed, and a core for what is in use. */
	return (FILLS_UP >> region & 1) != 0 && at >= p->start + HUGE_TABLE &&
	       ht_load_relaxed_64(&all->taken) >= (from ? from : HUGE_FROM) &&
	       at + HT_HUGE_BYTES <= p->limit && s->most == 0 && !s->core_view &&
	       s->header->page_bytes == COMMIT_PAGE &&
	       (uintptr_t)segment_at(s, at) % HT_HUGE_BYTES == 0;
}

/* It needs a page to begin with. Populating the rest takes nothing then but a call, and is the
 * proof: where huge pages are larger than this, the request does nothing and succeeds. */
static bool huge_request(const struct segment *s, uint64_t at)
{
	return mapping_take(s, at, HT_HUGE_BYTES) == 0 && range_populate(s, at, COMMIT_PAGE) == 0 &&
	       madvise(segment_at(s, at), HT_HUGE_BYTES, MADV_COLLAPSE) == 0 &&
	       range_populate(s, at, HT_HUGE_BYTES) == 0;
}

/* The coarse clock is a word in memory: a program may have forbidden reading the cycle counter. */
static int64_t now_ns(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* False: there is none. If the kernel refuses or takes its time, the next request comes when there
 * are twice as many units; not so if another thread is about to make this one (EAGAIN). Relaxed:
 * measures. */
static bool huge_try(const struct segment *s, uint64_t at)
{
	struct segment_part *all = segment_part(s, 0);
	int saved = errno;
	int64_t start = now_ns();
	bool made = huge_request(s, at);

	if ((!made && errno != EAGAIN) || now_ns() - start >= HUGE_SLOW_NS)
		ht_store_relaxed_64(&all->huge_from, 2 * ht_load_relaxed_64(&all->taken));
	errno = saved;
	return made;
}

/* Commits the unit, and those around it, by a huge page if one is due. */
static bool huge_commit(const struct segment *s, uint64_t unit)
{
	uint64_t first = unit / HUGE_UNITS * HUGE_UNITS, at = first * HT_COMMIT_BYTES;

	if (!huge_is_due(s, mapping_region(s, unit * HT_COMMIT_BYTES), at) || !huge_try(s, at))
		return false;
	for (uint64_t i = first; i < first + HUGE_UNITS; i++)
		unit_mark(s, i);
	return true;
}

static int unit_commit(const struct segment *s, uint64_t unit)
{
	if (huge_commit(s, unit))
		return 0;
	if (commit_pages(s, unit * HT_COMMIT_BYTES, HT_COMMIT_BYTES) != 0)
		return -ENOMEM;
	unit_mark(s, unit);
	return 0;
}

int commit_slow(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	uint64_t unit = offset / HT_COMMIT_BYTES, end = offset + bytes;
	int rc = 0;

	for (; unit * HT_COMMIT_BYTES < end && rc == 0; unit++) {
		struct segment_part *start;
		uint64_t in_unit = end - unit * HT_COMMIT_BYTES;

		if (commit_has(s, unit * HT_COMMIT_BYTES))
			continue;
		start = start_of(s, unit);
		rc = start ? start_commit(s, start, unit,
				     in_unit < HT_COMMIT_BYTES ? in_unit : HT_COMMIT_BYTES)
			   : unit_commit(s, unit);
	}
	return rc;
}

uint64_t commit_reach(const struct segment *s, uint64_t offset)
{
	uint64_t unit = offset / HT_COMMIT_BYTES, in_unit = offset % HT_COMMIT_BYTES, there = 0;
	struct segment_part *start = start_of(s, unit);

	if (commit_has(s, offset))
		there = HT_COMMIT_BYTES;
	else if (start)
		there = (uint64_t)ht_load_relaxed_32(&start->pages) * COMMIT_PAGE;
	return there > in_unit ? there - in_unit : 0;
}

uint32_t commit_take(const struct segment *s, const struct commit_table *t)
{
	uint32_t index = ht_load_relaxed_32(t->used);

	do {
		if (index >= t->limit ||
			commit_range(s, segment_element(s, t->region, index, t->size), t->size) !=
				0)
			return 0;
	} while (!ht_cas_relaxed_32(t->used, &index, index + 1));
	return index;
}
