/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contents of the table of mapped memory, and the counts: implements the operations of
 * mappings.h, under the lock. Lists consist of the numbers of removed entries; 0: empty.
 */
#ifndef SHM_MAPPINGS_TABLE_H
#define SHM_MAPPINGS_TABLE_H

#include "shm/segment_types.h"

/* A call that maps. */
struct mappings_block {
	uint64_t start, end;
	uint64_t tick; /* now */
	uint32_t site; /* neither 0 nor an ancestor, but for HT_MAPPING_ALLOCATOR: 0 */
	enum ht_mapping_kind kind;
	uint32_t pool; /* its number; 0: none */
};

/* Takes out what lies in [start, end); or the block that shmat attached at `start`. A list. */
uint32_t mappings_table_take(const struct segment *s, uint64_t start, uint64_t end);
uint32_t mappings_table_take_attached(const struct segment *s, uint64_t start);
/* Takes the whole block of a pool that starts at `start`, which is in that space. A list. */
uint32_t mappings_table_take_pool(const struct segment *s, uint64_t start);
/* Takes out the blocks of the pool `pool` that start in [start, end), of its space. A list. */
uint32_t mappings_table_take_pools(
	const struct segment *s, uint64_t start, uint64_t end, uint32_t pool);
/* How a call that unmapped ended: what it took, and what it was for. */
struct mappings_gone {
	uint32_t list;
	uint64_t asked; /* what is beyond the list was unknown */
	uint64_t start, end; /* unmapped entirely; both 0: no such range */
};
/* Counts a list as unmapped. A forked child notes memory that it had from its parent. */
void mappings_table_gone(const struct segment *s, const struct mappings_gone *g);
/* Puts a list back. What another block has replaced meanwhile is gone. */
void mappings_table_put_back(const struct segment *s, uint32_t list);
/* Enters a block, and retires what is there. Counts it as untracked if there is no room. */
void mappings_table_enter(const struct segment *s, const struct mappings_block *b);

/* Counts a block that cannot be entered. Needs no lock. */
void mappings_table_untracked(const struct segment *s, enum ht_mapping_kind kind, uint64_t bytes);

#endif
