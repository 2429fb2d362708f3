/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose blocks a live table has: glibc's malloc leaves a head before each, others do not. Told from
 * a program that goes on running, so each block that is looked at is looked up again after that:
 * one that was freed meanwhile says nothing. One thread.
 */
#ifndef SRC_MEMORY_ALLOCATOR_H
#define SRC_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "src/leak/access/space.h"
#include "src/read/read.h"

/* The first two are borrowed, and memory of the program is read from `space` as is now. */
struct allocator {
	struct leak_space *space;
	struct read_segment *segment;
	uint64_t step, next; /* which blocks are looked at: every so many, and the next one */
	uint64_t seen, tries; /* blocks told of, and those of them that were looked at */
	unsigned stayed, chunks; /* those of these that stayed meanwhile; as glibc's do */
};

/* `blocks`: how many there may be, about. */
void allocator_begin(struct allocator *a, struct leak_space *space, struct read_segment *segment,
	uint64_t blocks);
/* A block, as read_blocks has just found it: later it is likely to be gone. */
void allocator_block(struct allocator *a, const struct read_block *b);
/* What they say. NONE: there was no block to tell it by; LIKELY: but few. */
enum allocator_sure { ALLOCATOR_NONE, ALLOCATOR_LIKELY, ALLOCATOR_SURE };
enum allocator_sure allocator_end(const struct allocator *a, bool *is_glibc);

#endif
