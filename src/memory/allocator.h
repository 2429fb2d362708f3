/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which allocator made the blocks of a live table: glibc's malloc puts a header before each block,
 * others do not. The program keeps running, so each block is looked up again after its header was
 * read; one that was freed meanwhile proves nothing. One thread.
 */
#ifndef SRC_MEMORY_ALLOCATOR_H
#define SRC_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "src/leak/access/space.h"
#include "src/read/read.h"

/* The first two are borrowed; `space` reads the program's memory as it is now. */
struct allocator {
	struct leak_space *space;
	struct read_segment *segment;
	uint64_t step, next; /* every step-th block is inspected; the number of the next one */
	uint64_t seen, tries; /* blocks visited, and blocks inspected */
	unsigned stayed, chunks; /* inspected blocks that stayed live; those with glibc's header */
};

/* `blocks`: their approximate number. */
void allocator_begin(struct allocator *a, struct leak_space *space, struct read_segment *segment,
	uint64_t blocks);
/* Visits a block that read_blocks has just found; later it is likely to be gone. */
void allocator_block(struct allocator *a, const struct read_block *b);
/* The verdict. NONE: no block could be inspected; LIKELY: only a few could. */
enum allocator_sure { ALLOCATOR_NONE, ALLOCATOR_LIKELY, ALLOCATOR_SURE };
enum allocator_sure allocator_end(const struct allocator *a, bool *is_glibc);

#endif
