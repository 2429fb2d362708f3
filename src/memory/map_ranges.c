/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded mappings (map_ranges.h). */
#include "src/memory/map_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int room_make(struct map_ranges *r, size_t most)
{
	*r = (struct map_ranges){ malloc((most + 1) * sizeof(*r->range)), 0 };
	return r->range ? 0 : -ENOMEM;
}

static void add(struct map_ranges *r, uint64_t start, uint64_t end, uint32_t site)
{
	if (start < end)
		r->range[r->count++] = (struct map_range){ start, end, site };
}

void map_ranges_free(struct map_ranges *r)
{
	free(r->range);
	*r = (struct map_ranges){ 0 };
}

int map_ranges_read(struct read_segment *s, uint32_t sites, struct map_ranges *out)
{
	struct read_mapping *mapping = NULL;
	bool whole;
	ssize_t n = read_mappings(s, &mapping, &whole);
	int rc = n < 0 ? (int)n : room_make(out, (size_t)n);

	for (ssize_t i = 0; rc == 0 && i < n; i++) {
		const struct read_mapping *m = &mapping[i];
		bool allocator = m->kind == HT_MAPPING_ALLOCATOR;

		if (m->kind == HT_MAPPING_POOL) /* it lies in what is something else */
			continue;
		if (allocator || (m->site > 0 && m->site < sites))
			add(out, m->start, m->end, allocator ? 0 : m->site);
	}
	free(mapping);
	return rc;
}

/* ---- one list less another ---- */

static int by_start(const void *a, const void *b)
{
	const struct map_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Adds what lies in none of `holes`, which may overlap. There is room for a part more than there
 * are ranges and holes. */
static void rest_add(
	const struct map_ranges *in, const struct map_ranges *holes, struct map_ranges *out)
{
	uint64_t passed = 0; /* the highest end of the holes up to `next` */
	size_t next = 0;

	for (size_t i = 0; i < in->count; i++) {
		const struct map_range *r = &in->range[i];
		uint64_t at = r->start > passed ? r->start : passed;

		for (; next < holes->count && holes->range[next].start < r->end; next++) {
			const struct map_range *hole = &holes->range[next];

			add(out, at, hole->start, r->site);
			passed = hole->end > passed ? hole->end : passed;
			at = passed > at ? passed : at;
		}
		add(out, at, r->end, r->site);
	}
}

int map_ranges_unmapped(struct read_segment *s, const struct map_ranges *in, struct map_ranges *out)
{
	struct read_unmapped unmapped[HT_UNMAPPED_MAX];
	struct map_range hole[HT_UNMAPPED_MAX];
	struct map_ranges holes = { hole, 0 };
	ssize_t n = read_unmapped(s, unmapped);
	int rc = n < 0 && n != -ENODATA ? (int)n : room_make(out, in->count + HT_UNMAPPED_MAX);

	if (rc != 0 || n < 0)
		return rc;
	for (ssize_t i = 0; i < n; i++)
		add(&holes, unmapped[i].start, unmapped[i].end, 0);
	qsort(hole, holes.count, sizeof(*hole), by_start);
	rest_add(in, &holes, out);
	return 0;
}

int map_ranges_merge(
	const struct map_ranges *above, const struct map_ranges *below, struct map_ranges *out)
{
	int rc = room_make(out, 2 * above->count + below->count);

	if (rc != 0)
		return rc;
	rest_add(below, above, out);
	if (above->count > 0)
		memcpy(out->range + out->count, above->range, above->count * sizeof(*out->range));
	out->count += above->count;
	qsort(out->range, out->count, sizeof(*out->range), by_start);
	return 0;
}
