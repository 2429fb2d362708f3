/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A map of invented memory for the screen's tests: a brk heap of which a part is full, a part is
 * sparse, a part is free and a part was never touched, two arenas, large blocks, and the rest of a
 * process. Nothing is random.
 */
#ifndef TESTS_TUI_CANNEDMAP_H
#define TESTS_TUI_CANNEDMAP_H

#include <stdlib.h>
#include "src/model/map.h"

#define CANNEDMAP_BRK	  0x55d0a1c00000ull
#define CANNEDMAP_PAGES	  6000u /* of the heap */
#define CANNEDMAP_ARENA	  0x7f1200000000ull
#define CANNEDMAP_LARGE	  0x7f3000000000ull
#define CANNEDMAP_BLOCKS  40000u
#define CANNEDMAP_READ_NS 1700000758000000000ull /* 3 seconds before the canned snapshot */

/* Fills up to `bytes` bytes from *at on with blocks of a size, each `step` bytes from the last. */
static inline void cannedmap_fill(struct map_block *block, size_t *count, uint64_t at, uint64_t end,
	uint64_t size, uint64_t step, uint32_t site)
{
	for (; at + size <= end && *count < CANNEDMAP_BLOCKS; at += step)
		block[(*count)++] = (struct map_block){ at + 16, size, site };
}

static inline size_t cannedmap_blocks(struct map_block *block)
{
	const uint64_t page = MAP_PAGE_BYTES, brk = CANNEDMAP_BRK;
	size_t n = 0;

	cannedmap_fill(block, &n, brk, brk + 1000 * page, 1000, 1008, 17);
	cannedmap_fill(block, &n, brk + 1000 * page, brk + 1500 * page, 600, 912, 19);
	cannedmap_fill(block, &n, brk + 1500 * page, brk + 3500 * page, 64, 4096, 23);
	cannedmap_fill(block, &n, brk + 3500 * page, brk + 4200 * page, 200, 3 * 4096, 18);
	cannedmap_fill(block, &n, brk + 5000 * page, brk + 5200 * page, 1000, 1008, 17);
	cannedmap_fill(
		block, &n, CANNEDMAP_ARENA + 4096, CANNEDMAP_ARENA + 300 * page, 120, 128, 24);
	cannedmap_fill(block, &n, CANNEDMAP_ARENA + (64 << 20) + 4096,
		CANNEDMAP_ARENA + (64 << 20) + 90 * page, 48, 2048, 25);
	cannedmap_fill(block, &n, CANNEDMAP_LARGE, CANNEDMAP_LARGE + (12 << 20), (4 << 20) - 32,
		4 << 20, 20);
	return n;
}

/* The heap's last pages but a few were never touched; half of the third large block is present. */
static inline void cannedmap_pages(struct map *m)
{
	for (size_t r = 0; r < m->rows; r++) {
		const struct map_row *row = &m->row[r];

		for (size_t i = 0; i < row->pages; i++) {
			bool absent = (row->kind == MAP_BRK && i >= 5400) ||
				      (row->kind == MAP_CHUNKS && i >= row->pages - 500) ||
				      (row->kind == MAP_ARENA && i >= 400);

			if (!absent)
				m->page[row->first_page + i].flags = MAP_PAGE_PRESENT;
		}
	}
}

/* With `maps`, site 9001 has mapped a part. */
static inline struct map *cannedmap_new(bool maps)
{
	static const struct map_range range = { CANNEDMAP_LARGE + (16 << 20),
		CANNEDMAP_LARGE + (20 << 20), 9001 };
	static const struct map_vma vma[] = {
		{ 0x400000, 0x900000, MAP_FILE, false, 3 << 20, 0 },
		{ CANNEDMAP_BRK, CANNEDMAP_BRK + CANNEDMAP_PAGES * MAP_PAGE_BYTES, MAP_BRK, false,
			0, 0 },
		{ CANNEDMAP_ARENA, CANNEDMAP_ARENA + (2 << 20), MAP_OTHER, true, 2 << 20, 0 },
		{ CANNEDMAP_ARENA + (64 << 20), CANNEDMAP_ARENA + (65 << 20), MAP_OTHER, true,
			1 << 20, 0 },
		{ CANNEDMAP_LARGE, CANNEDMAP_LARGE + (12 << 20), MAP_OTHER, true, 10 << 20, 0 },
		{ CANNEDMAP_LARGE + (16 << 20), CANNEDMAP_LARGE + (20 << 20), MAP_OTHER, true,
			4 << 20, 0 },
		{ CANNEDMAP_LARGE + (24 << 20), CANNEDMAP_LARGE + (28 << 20), MAP_OTHER, true,
			1 << 20, 0 },
		{ CANNEDMAP_LARGE + (32 << 20), CANNEDMAP_LARGE + (96 << 20), MAP_OWN, false,
			9 << 20, 0 },
		{ 0x7ffc00000000, 0x7ffc00084000, MAP_STACK, false, 132 << 10, 0 },
	};
	static const struct map_piece piece[] = {
		{ CANNEDMAP_ARENA, CANNEDMAP_ARENA + (2 << 20), MAP_ARENA, CANNEDMAP_ARENA },
		{ CANNEDMAP_ARENA + (64 << 20), CANNEDMAP_ARENA + (65 << 20), MAP_ARENA,
			CANNEDMAP_ARENA + (64 << 20) },
	};
	struct map_block *block = calloc(CANNEDMAP_BLOCKS, sizeof(*block));
	struct map_input in = { .vma = vma,
		.vmas = sizeof(vma) / sizeof(vma[0]),
		.piece = piece,
		.pieces = sizeof(piece) / sizeof(piece[0]),
		.block = block,
		.range = &range,
		.ranges = maps,
		.glibc = true };
	struct map *m;

	if (!block)
		return NULL;
	in.blocks = cannedmap_blocks(block);
	m = map_new(&in);
	if (m) {
		cannedmap_pages(m);
		map_count(m, &in);
		map_rows_sort(m);
		m->account.took_ns = 40000000;
		m->account.read_realtime_ns = CANNEDMAP_READ_NS;
		m->account.again_ns = 5000000000;
	}
	free(block);
	return m;
}

#endif
