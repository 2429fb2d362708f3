/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for parts of a segment (commit.h). */
#include "shm/commit.h"

#include <sys/mman.h>

#include "shm/backoff.h"
#include "shm/mapping.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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
	return true;
}

int commit_pages(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	int saved = errno;
	bool taken = range_try(s, offset, bytes);

	errno = saved;
	if (!taken)
		ht_add_relaxed_64(&s->header->commit_failed, 1);
	return taken ? 0 : -ENOMEM;
}

int commit_slow(const struct segment *s, uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset / HT_COMMIT_BYTES, last = (offset + bytes - 1) / HT_COMMIT_BYTES;

	for (uint64_t unit = first; unit <= last; unit++) {
		if (commit_has(s, unit * HT_COMMIT_BYTES))
			continue;
		if (commit_pages(s, unit * HT_COMMIT_BYTES, HT_COMMIT_BYTES) != 0)
			return -ENOMEM;
		commit_mark(s->header, unit);
	}
	return 0;
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
