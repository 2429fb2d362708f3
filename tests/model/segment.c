/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small segment in the checked memory, for setups (model.h). */
#include "shm/segment.h"

#include <string.h>

#include "shm/commit.h"
#include "tests/model/engine.h"

static uint64_t region_bytes(int region)
{
	return (region == HT_REGION_PIECES ? 4 : 1) * HT_COMMIT_BYTES;
}

static uint64_t regions_bytes(void)
{
	uint64_t bytes = HT_HEADER_BYTES;

	for (int i = 0; i < HT_REGION_COUNT; i++)
		bytes += region_bytes(i);
	return bytes;
}

static void regions_place(struct ht_header *h)
{
	uint64_t at = HT_HEADER_BYTES;

	for (int i = 0; i < HT_REGION_COUNT; i++) {
		h->region[i] = (struct ht_region){ at, region_bytes(i) };
		at += region_bytes(i);
	}
	h->segment_bytes = at;
	memset(h->committed, 0xff, sizeof(h->committed));
}

void model_segment(struct segment *s, uint32_t live_log2, uint32_t levels)
{
	struct ht_header *h = model_shared(regions_bytes()); /* the first: a segment begins there */

	s->header = h;
	s->single_threaded = ""; /* a zero: many */
	h->page_bytes = COMMIT_PAGE;
	regions_place(h);
	s->bytes = h->segment_bytes;
	for (int i = 0; i < HT_REGION_COUNT; i++) {
		uint64_t end = h->region[i].offset + h->region[i].bytes;

		s->part[i] = (struct segment_part){
			.start = i ? h->region[i].offset : 0, .limit = end, .mapped = end
		};
	}
	s->places = model_shared(sizeof(*s->places)); /* hooks look there, pieces or not */
	h->live_log2 = live_log2;
	h->live_levels_max = levels;
	h->index_levels = 2;
	h->nodes = h->sites = h->modules = h->threads = 1;
	h->strings_bytes = ENGINE_CELL; /* texts of whole cells: smaller parts are not told apart */
	h->counters = 1;
	h->hists = 2;
	h->history.step_ns = 1;
}

void model_pieces(struct segment *s, uint32_t count)
{
	s->header->live_pieces_max = count;
	s->pieces = segment_at(s, s->header->region[HT_REGION_PIECES].offset);
	s->piece_mask = count - 1;
	s->places = model_shared(count * sizeof(*s->places));
	segment_extents(s, true);
}
