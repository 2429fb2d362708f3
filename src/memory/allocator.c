/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether blocks are glibc's (allocator.h). */
#include "src/memory/allocator.h"

#include "src/leak/analysis/glibc_heap.h"
#include "src/proc/proc.h"

#define SAMPLES	  64u /* blocks, evenly spread: one in ten may have another header */
#define SURE	  16u /* fewer may still lead to another answer */
#define TRIES_MAX 1024u /* blocks that do not stay; each takes some microseconds */

void allocator_begin(struct allocator *a, struct leak_space *space, struct read_segment *segment,
	uint64_t blocks)
{
	*a = (struct allocator){ .space = space, .segment = segment, .step = blocks / SAMPLES + 1 };
}

void allocator_block(struct allocator *a, const struct read_block *b)
{
	uint64_t word;
	bool chunk;

	if (a->seen++ < a->next || a->tries >= TRIES_MAX)
		return;
	a->tries++;
	if (!proc_pagemap_present(a->space->pagemap, b->addr - 8) ||
		!leak_space_word(a->space, b->addr - 8, &word))
		return;
	chunk = leak_glibc_heap_is_chunk(a->space, b->addr, b->size);
	if (!read_block_is_unchanged(a->segment, b))
		return; /* the next one is tried */
	a->next = a->seen - 1 + a->step;
	a->stayed++;
	a->chunks += chunk;
}

enum allocator_sure allocator_end(const struct allocator *a, bool *is_glibc)
{
	if (a->stayed == 0)
		return ALLOCATOR_NONE;
	*is_glibc = a->chunks * 10 >= a->stayed * 9;
	return a->stayed >= SURE ? ALLOCATOR_SURE : ALLOCATOR_LIKELY;
}
