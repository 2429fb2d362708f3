/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what the program has mapped: counts by site, and ranges (read.h). An entry is taken if its
 * mark is right. All of them are read again, a few times, if the table changed meanwhile, so that
 * they are mostly of one moment. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/segment.h"

#define PIECE 1024u /* 64 KB a read */
#define TRIES 4u

void read_mapped_fill(struct read_mapped_totals *out, const struct ht_header *h)
{
	*out = (struct read_mapped_totals){ .sites = h->mapped,
		.maps = h->maps,
		.unmaps = h->unmaps,
		.map_bytes = h->map_bytes,
		.unmap_bytes = h->unmap_bytes,
		.peak_bytes = h->mapped_peak_bytes,
		.peak_ns =
			h->mapped_peak_ns > h->created_ns ? h->mapped_peak_ns - h->created_ns : 0,
		.allocator_bytes = h->allocator_mapped_bytes,
		.unknown_unmap_bytes = h->unknown_unmap_bytes,
		.missed_unmap_bytes = h->missed_unmap_bytes,
		.untracked_maps = h->untracked_maps,
		.untracked_map_bytes = h->untracked_map_bytes,
		.untracked_unmap_bytes = h->untracked_unmap_bytes,
		.pool_blocks = h->pool_blocks,
		.pool_gone_blocks = h->pool_gone_blocks,
		.pool_bytes = h->pool_bytes,
		.pool_gone_bytes = h->pool_gone_bytes,
		.pool_peak_bytes = h->pool_peak_bytes,
		.pool_untracked = h->pool_untracked,
		.pool_untracked_bytes = h->pool_untracked_bytes };
}

ssize_t read_mapped(struct read_segment *s, uint32_t first, struct read_mapped *out, uint32_t count)
{
	struct ht_mapped *piece;
	uint32_t used;
	int rc = read_used(
		s, offsetof(struct ht_header, mapped), HT_REGION_MAPPED, sizeof(*piece), &used);

	if (rc != 0 || first >= used)
		return rc;
	if (count > used - first)
		count = used - first;
	piece = malloc((count ? count : 1) * sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	rc = read_elements(s, HT_REGION_MAPPED, first, count, sizeof(*piece), piece);
	for (uint32_t i = 0; i < count && rc == 0; i++)
		out[i] = (struct read_mapped){ .site = piece[i].site,
			.maps = piece[i].maps,
			.unmaps = piece[i].unmaps,
			.map_bytes = piece[i].map_bytes,
			.unmap_bytes = piece[i].unmap_bytes,
			.peak_bytes = piece[i].peak_bytes };
	free(piece);
	return rc != 0 ? rc : (ssize_t)count;
}

/* Whether an entry is a range that is mapped; anything may be in there. */
static bool is_range(const struct ht_mapping *m)
{
	return m->mark == ht_mapping_mark(m) && m->kind > HT_MAPPING_NONE &&
	       m->kind < HT_MAPPING_KINDS && m->start < m->end &&
	       (m->kind == HT_MAPPING_POOL) == (m->start >= HT_POOL_SPACE);
}

struct ranges {
	struct read_mapping *out;
	size_t count;
};

static int by_start(const void *a, const void *b)
{
	const struct read_mapping *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Leaves the space of pools, after the ranges are sorted. */
static void pools_place(struct ranges *r)
{
	for (size_t i = r->count; i > 0 && r->out[i - 1].start >= HT_POOL_SPACE; i--) {
		r->out[i - 1].start &= ~HT_POOL_SPACE;
		r->out[i - 1].end &= ~HT_POOL_SPACE;
	}
}

static void piece_add(struct ranges *r, const struct ht_mapping *piece, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct ht_mapping *m = &piece[i];

		if (is_range(m))
			r->out[r->count++] = (struct read_mapping){ .start = m->start,
				.end = m->end,
				.tick = m->tick,
				.block = m->block,
				.site = m->site,
				.kind = (enum ht_mapping_kind)m->kind };
	}
}

/* Reads entries [1, used). 0 or -errno. */
static int entries_read(
	struct read_segment *s, uint32_t used, struct ht_mapping *piece, struct ranges *r)
{
	int rc = 0;

	r->count = 0;
	for (uint32_t at = 1; at < used && rc == 0; at += PIECE) {
		uint32_t n = used - at < PIECE ? used - at : PIECE;

		rc = read_elements(s, HT_REGION_MAPPINGS, at, n, sizeof(*piece), piece);
		if (rc == 0)
			piece_add(r, piece, n);
	}
	return rc;
}

static int changes_get(struct read_segment *s, uint64_t *changes)
{
	return read_at(s, offsetof(struct ht_header, mapping_changes), changes, sizeof(*changes));
}

/* One reading. 0, 1: the table changed meanwhile, or -errno. */
static int ranges_read(struct read_segment *s, struct ht_mapping *piece, struct ranges *r)
{
	uint64_t before, after;
	uint32_t used;
	int rc = changes_get(s, &before);

	if (rc == 0)
		rc = read_used(s, offsetof(struct ht_header, mappings), HT_REGION_MAPPINGS,
			sizeof(*piece), &used);
	if (rc != 0)
		return rc;
	free(r->out);
	r->out = malloc((used ? used : 1) * sizeof(*r->out));
	rc = r->out ? entries_read(s, used, piece, r) : -ENOMEM;
	if (rc == 0)
		rc = changes_get(s, &after);
	return rc != 0 ? rc : before != after || before % 2 != 0;
}

ssize_t read_mappings(struct read_segment *s, struct read_mapping **out, bool *whole)
{
	struct ht_mapping *piece = malloc(PIECE * sizeof(*piece));
	struct ranges r = { 0 };
	int rc = piece ? 1 : -ENOMEM;

	for (unsigned i = 0; i < TRIES && rc == 1; i++)
		rc = ranges_read(s, piece, &r);
	free(piece);
	if (rc < 0) {
		free(r.out);
		return rc;
	}
	qsort(r.out, r.count, sizeof(*r.out), by_start);
	pools_place(&r);
	*out = r.out;
	*whole = rc == 0;
	return (ssize_t)r.count;
}

/* ---- what a forked child has from its parent ---- */

/* Whether a text of the segment is the name of a file, and nothing else. */
static bool is_file_name(const char *name, size_t cap)
{
	size_t length = strnlen(name, cap);

	return length > 0 && length < cap && !strchr(name, '/') && name[0] != '.';
}

int read_parent(struct read_segment *s, struct read_parent *out)
{
	const struct ht_header *h;
	int rc = read_header_refresh(s, &h);

	if (rc != 0)
		return rc;
	if (!h->forked || h->parent_created_ns == 0 || !is_file_name(h->parent, sizeof(h->parent)))
		return -ENOENT;
	out->created_ns = h->parent_created_ns;
	out->blocks = h->parent_blocks;
	memcpy(out->name, h->parent, sizeof(out->name));
	return 0;
}

ssize_t read_unmapped(struct read_segment *s, struct read_unmapped out[HT_UNMAPPED_MAX])
{
	const struct ht_header *h;
	int rc = read_header_refresh(s, &h);

	static_assert(sizeof(*out) == sizeof(struct ht_unmapped), "one takes the other's place");
	if (rc != 0)
		return rc;
	if (h->unmapped_used > HT_UNMAPPED_MAX || h->untracked_unmap_bytes > 0)
		return -ENODATA;
	rc = read_at(s, offsetof(struct ht_header, unmapped), out, h->unmapped_used * sizeof(*out));
	return rc != 0 ? rc : (ssize_t)h->unmapped_used;
}
