/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walking the live hash of a segment. Each piece is copied twice and only what is the same in both
 * copies is given out, so that no block is shown with another one's payload. Main thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "shm/live.h"
#include "src/read/segment.h"

#define PIECE_BUCKETS 1024u /* three commit units */

struct walk {
	struct read_segment *s;
	uint64_t committed[HT_COMMITTED_WORDS];
	struct ht_bucket *first, *second; /* PIECE_BUCKETS each */
	void (*visit)(void *ctx, const struct read_block *b);
	void *ctx;
	ssize_t blocks;
};

static bool is_committed(const struct walk *w, uint64_t offset, uint64_t bytes)
{
	for (uint64_t unit = offset / HT_COMMIT_BYTES;
		unit <= (offset + bytes - 1) / HT_COMMIT_BYTES; unit++)
		if (w->committed[unit / 64] >> (unit % 64) & 1)
			return true;
	return false;
}

static void visit_slot(
	struct walk *w, const struct ht_bucket *a, const struct ht_bucket *b, unsigned i)
{
	struct live_block block;
	struct read_block out;

	if (a->key[i] <= HT_KEY_CLAIMED || a->key[i] != b->key[i] ||
		a->payload[i].size_thread != b->payload[i].size_thread ||
		a->payload[i].site_tick != b->payload[i].site_tick)
		return;
	live_unpack(&a->payload[i], &block);
	if (block.site == HT_SITE_HIDDEN)
		return;
	out = (struct read_block){ a->key[i], block.size, block.tick, block.site, block.thread };
	w->visit(w->ctx, &out);
	w->blocks++;
}

static int piece_walk(struct walk *w, uint64_t offset, uint32_t buckets)
{
	uint64_t bytes = buckets * sizeof(struct ht_bucket);
	int rc;

	if (!is_committed(w, offset, bytes))
		return 0;
	rc = read_at(w->s, offset, w->first, bytes);
	if (rc == 0)
		rc = read_at(w->s, offset, w->second, bytes);
	for (uint32_t i = 0; rc == 0 && i < buckets; i++)
		for (unsigned slot = 0; slot < HT_BUCKET_SLOTS; slot++)
			visit_slot(w, &w->first[i], &w->second[i], slot);
	return rc;
}

static int level_walk(struct walk *w, uint32_t level)
{
	uint64_t offset = segment_level_offset(w->s->header, level);
	uint64_t buckets = 1ull << segment_level_log2(w->s->header, level);

	for (uint64_t at = 0; at < buckets; at += PIECE_BUCKETS) {
		uint64_t left = buckets - at;
		int rc = piece_walk(w, offset + at * sizeof(struct ht_bucket),
			left < PIECE_BUCKETS ? (uint32_t)left : PIECE_BUCKETS);

		if (rc != 0)
			return rc;
	}
	return 0;
}

ssize_t read_blocks(
	struct read_segment *s, void (*visit)(void *, const struct read_block *), void *ctx)
{
	struct walk w = { .s = s, .visit = visit, .ctx = ctx };
	uint32_t levels = 0;
	int rc = -ENOMEM;

	w.first = calloc(PIECE_BUCKETS, sizeof(*w.first));
	w.second = calloc(PIECE_BUCKETS, sizeof(*w.second));
	if (!w.first || !w.second)
		goto out;
	rc = read_at(s, offsetof(struct ht_header, committed), w.committed, sizeof(w.committed));
	if (rc == 0)
		rc = read_at(s, offsetof(struct ht_header, live_levels), &levels, sizeof(levels));
	if (levels > s->header->live_levels_max)
		levels = s->header->live_levels_max;
	for (uint32_t level = 0; rc == 0 && level < levels; level++)
		rc = level_walk(&w, level);
	if (rc == 0 && s->header->near_log2 != 0)
		rc = level_walk(&w, SEGMENT_NEAR);
out:
	free(w.first);
	free(w.second);
	return rc != 0 ? rc : w.blocks;
}
