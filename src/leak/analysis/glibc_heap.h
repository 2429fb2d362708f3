/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What glibc's malloc leaves in a process's memory, told from outside and checked word by word
 * before it is believed: the heads of its heaps and of its chunks. Source: glibc malloc/malloc.c
 * and malloc/arena.c (heap_info, malloc_chunk), as they have been since 2.3. 64 bits. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_GLIBC_HEAP_H
#define SRC_LEAK_ANALYSIS_GLIBC_HEAP_H

#include "src/leak/access/space.h"

#define LEAK_GLIBC_HEAP_BYTES (UINT64_C(1) << 26) /* HEAP_MAX_SIZE, and how heaps are aligned */

/* A piece of one of the further arenas; the first one's is the brk heap. */
struct leak_glibc_heap {
	uint64_t start, end; /* in use, the free rest of it included */
	uint64_t arena; /* where its state is: the same for all pieces of one arena */
};

/* Whether such a piece begins at `start`, in memory that can be read up to `end`. */
bool leak_glibc_heap_at(
	struct leak_space *s, uint64_t start, uint64_t end, struct leak_glibc_heap *out);
/* Whether a block of `bytes` bytes that were asked for has a mapping of its own. */
bool leak_glibc_heap_has_own_mapping(struct leak_space *s, uint64_t addr, uint64_t bytes);
/* Whether a block has the head of a chunk that could be cut for `bytes` bytes. */
bool leak_glibc_heap_is_chunk(struct leak_space *s, uint64_t addr, uint64_t bytes);
/* Where the chunks end that lie one behind the other from `start` on: at `end`, or before it. */
uint64_t leak_glibc_heap_chunks_end(struct leak_space *s, uint64_t start, uint64_t end);

#endif
