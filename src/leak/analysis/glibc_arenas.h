/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arenas of glibc's malloc in a process that stands still, found without symbols: a bin that is
 * empty points to itself, twice, and an arena has 127. So the main arena is found in libc's data,
 * the others by the list that they form; every word is checked. Source: glibc malloc/malloc.c
 * (malloc_state, malloc_par) and malloc/arena.c, 2.27 to 2.41. 64 bits. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_GLIBC_ARENAS_H
#define SRC_LEAK_ANALYSIS_GLIBC_ARENAS_H

#include "src/leak/access/space.h"

#define LEAK_GLIBC_FASTBINS 10u

struct leak_glibc_arena {
	uint64_t at; /* malloc_state */
	uint64_t heap_bytes; /* size of heap_info at the start of its heaps; 0: a main arena */
	uint64_t top; /* the chunk at the end */
	uint64_t system_bytes; /* taken from the kernel */
	uint64_t fastbin[LEAK_GLIBC_FASTBINS]; /* chunks */
	/* Only in a main arena whose libc's parameters are known: */
	bool has_parameters;
	uint64_t brk_start; /* where its first chunk is; 0: it has none */
	uint64_t mappings, mapped_bytes; /* chunks with mappings of their own */
};

struct leak_glibc_arenas {
	struct leak_glibc_arena *arena;
	size_t count, capacity;
};

/* Finds them all: of each libc (dlmopen loads more than one) the main arena, then its others. 0 or
 * -ENOMEM. */
int leak_glibc_arenas_find(struct leak_space *s, struct leak_glibc_arenas *out);
/* Where the first chunk after an arena's malloc_state lies. */
uint64_t leak_glibc_arenas_first_chunk(uint64_t arena);
void leak_glibc_arenas_free(struct leak_glibc_arenas *a);

#endif
