/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glibc malloc's structures in a process's memory, read from outside and checked word by word: the
 * headers of its heaps and chunks. Source: glibc malloc/malloc.c and malloc/arena.c (heap_info,
 * malloc_chunk), unchanged since 2.3. 64 bits. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_GLIBC_HEAP_H
#define SRC_LEAK_ANALYSIS_GLIBC_HEAP_H

#include "src/leak/access/space.h"

#define LEAK_GLIBC_HEAP_BYTES (UINT64_C(1) << 26) /* HEAP_MAX_SIZE, and how heaps are aligned */

/* A heap of an arena other than the main one, whose heap is brk's. */
struct leak_glibc_heap {
	uint64_t start, end; /* the used part, with free chunks */
	uint64_t arena; /* its state; the same for all heaps of an arena */
};

/* Whether a heap begins at `start`, in memory that is readable up to `end`. */
bool leak_glibc_heap_at(
	struct leak_space *s, uint64_t start, uint64_t end, struct leak_glibc_heap *out);
/* Whether a block of `bytes` requested bytes has a mapping of its own. */
bool leak_glibc_heap_has_own_mapping(struct leak_space *s, uint64_t addr, uint64_t bytes);
/* Whether a block has the header of a chunk that malloc could make for `bytes` bytes. */
bool leak_glibc_heap_is_chunk(struct leak_space *s, uint64_t addr, uint64_t bytes);
/* The end of the row of chunks that begins at `start`: `end`, or an address before it. */
uint64_t leak_glibc_heap_chunks_end(struct leak_space *s, uint64_t start, uint64_t end);

#endif
