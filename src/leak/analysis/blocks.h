/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks of a leak scan, in the order of their addresses, and the question that a scan asks
 * once per word of memory: does this word point to one of them? Filled by one thread; looking up
 * changes nothing, and any number of threads may do it.
 */
#ifndef SRC_LEAK_ANALYSIS_BLOCKS_H
#define SRC_LEAK_ANALYSIS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "src/leak/access/words.h"

#define LEAK_NONE UINT32_MAX
/* Room for four bits beside an index (graph.h); blocks beyond it are refused. */
#define LEAK_BLOCKS_MAX (1u << 28)

struct leak_block {
	uint64_t addr, size;
	uint32_t site;
	uint32_t birth; /* as the live table has it: read_birth */
};

/* Of a block that may have been there: what it holds is in use if it is reached, but it is not lost
 * itself. */
#define LEAK_BIRTH_UNSURE UINT32_MAX

/* Blocks that lie near each other, with an index of what begins where. */
struct leak_cluster {
	uint64_t start, end; /* of the address space */
	uint32_t first, count; /* of the blocks */
	uint32_t
		*index; /* of granule i: the first block that starts there or later; NULL for one */
};

struct leak_blocks {
	struct leak_block *block;
	uint32_t count, capacity;
	struct leak_cluster *cluster;
	uint32_t clusters;
	uint64_t lowest, span; /* no block has a byte outside */
};

/* Makes room for so many, so that adding them takes less time. 0 or -ENOMEM. */
int leak_blocks_reserve(struct leak_blocks *b, uint64_t count);
/* Appends a block. 0, -ENOMEM, or -E2BIG. */
int leak_blocks_add(struct leak_blocks *b, const struct leak_block *block);
/* When all are in: sorts them, drops those of the same address but one, and makes the index. What
 * was added in ascending runs is sorted fast. 0 or -ENOMEM. */
int leak_blocks_finish(struct leak_blocks *b);
/*
 * Before that: where there is no block, adds what `unsure` has, which it sorts. Of one that begins
 * where a block does, the longer end counts. Afterwards none overlap. Blocks of the same address:
 * the last that was added. 0 or as leak_blocks_add.
 */
int leak_blocks_fill(struct leak_blocks *b, struct leak_blocks *unsure);
/*
 * After leak_blocks_finish: forgets the blocks that start in one of `parts`, which it sorts, and
 * adds those of `fresh`, which it sorts, too; then all is as finished. Of one address, the fresh
 * one stays. 0 or -ENOMEM.
 */
int leak_blocks_patch(
	struct leak_blocks *b, struct leak_range *parts, size_t count, struct leak_blocks *fresh);
/*
 * The block that `word` points to, start or inside; a block of no bytes counts as one byte. Where
 * blocks overlap (the table was not right), the one that starts last. LEAK_NONE: there is none.
 */
uint32_t leak_blocks_find(const struct leak_blocks *b, uint64_t word);
/* The first block that starts at `addr` or later; `count` if there is none. */
uint32_t leak_blocks_from(const struct leak_blocks *b, uint64_t addr);
void leak_blocks_free(struct leak_blocks *b);

#endif
