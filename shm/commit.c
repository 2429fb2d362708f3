/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for parts of a segment (commit.h). */
#include "shm/commit.h"

#include <sys/mman.h>

#include "shm/backoff.h"
#include "shm/core_view.h"
#include "shm/mapping.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
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

void commit_mark(struct ht_header *h, uint64_t unit)
{
	ht_or_relaxed_64(&h->committed[unit / 64], 1ull << (unit % 64));
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
		commit_mark(s->header, unit);
	return 0;
}

static int unit_commit(const struct segment *s, uint64_t unit)
{
	if (commit_pages(s, unit * HT_COMMIT_BYTES, HT_COMMIT_BYTES) != 0)
		return -ENOMEM;
	commit_mark(s->header, unit);
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
