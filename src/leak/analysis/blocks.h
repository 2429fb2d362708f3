/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live blocks of a leak scan, in the order of addresses, and the question that a scan asks once
 * per word of memory: does the word point to a block? One thread fills it; any number of threads
 * may search it.
 */
#ifndef SRC_LEAK_ANALYSIS_BLOCKS_H
#define SRC_LEAK_ANALYSIS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "src/leak/access/words.h"

#define LEAK_NONE UINT32_MAX
/* Leaves four bits beside an index (graph.h). More blocks are refused. */
#define LEAK_BLOCKS_MAX (1u << 28)

struct leak_block {
	uint64_t addr, size;
	uint32_t site;
	uint32_t birth; /* creation time as in the live table: read_tick_pack */
};

/* The birth of a block that may have existed: what it leads to is in use, but it is not lost
 * itself. */
#define LEAK_BIRTH_UNSURE UINT32_MAX

/* Blocks near each other, with an index by address. */
struct leak_cluster {
	uint64_t start, end;
	uint32_t first, count; /* of blocks */
	uint32_t *index; /* per granule: the first block that starts there or later; NULL for a
			    single block */
};

struct leak_blocks {
	struct leak_block *block;
	uint32_t count, capacity;
	struct leak_cluster *cluster;
	uint32_t clusters;
	uint64_t lowest, span; /* all blocks lie in [lowest, lowest + span) */
};

/* Reserves memory for so many blocks, so that adding takes less time. 0 or -ENOMEM. */
int leak_blocks_reserve(struct leak_blocks *b, uint64_t count);
/* Appends a block. 0, -ENOMEM, or -E2BIG. */
int leak_blocks_add(struct leak_blocks *b, const struct leak_block *block);
/* After the last block: sorts them, keeps one of each address, and makes the index. Ascending runs
 * are sorted fast. 0 or -ENOMEM. */
int leak_blocks_finish(struct leak_blocks *b);
/*
 * Before leak_blocks_finish: adds blocks of `unsure`, which it sorts, where there is no block. If
 * one begins where a block does, the longer size counts. Afterwards none overlap. Of blocks with
 * the same address, the last added counts. 0 or as leak_blocks_add.
 */
int leak_blocks_fill(struct leak_blocks *b, struct leak_blocks *unsure);
/*
 * After leak_blocks_finish: drops the blocks that start in one of `parts`, adds those of `fresh`,
 * and finishes again. Sorts `parts` and `fresh`. At equal addresses, the fresh block stays. 0 or
 * -ENOMEM.
 */
int leak_blocks_patch(
	struct leak_blocks *b, struct leak_range *parts, size_t count, struct leak_blocks *fresh);
/*
 * The block that `word` points into, at its start or inside; a block of no bytes counts as one
 * byte. Of blocks that overlap (the table was damaged), the one that starts last. LEAK_NONE: none.
 */
uint32_t leak_blocks_find(const struct leak_blocks *b, uint64_t word);
/* The first block that starts at `addr` or later; `count` if there is none. */
uint32_t leak_blocks_from(const struct leak_blocks *b, uint64_t addr);
void leak_blocks_free(struct leak_blocks *b);

#endif
