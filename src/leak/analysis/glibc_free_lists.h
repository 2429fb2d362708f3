/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free chunks of glibc's malloc that look as if they were in use: those in fastbins, and those in
 * the caches of threads. In a process that stands still, every word checked. Since 2.32 pointers in
 * these lists are mangled by their own address; which it is shows at the end of each list. Source:
 * glibc malloc/malloc.c (fastbins, tcache_perthread_struct), 2.30 to 2.41. 64 bits. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_GLIBC_FREE_LISTS_H
#define SRC_LEAK_ANALYSIS_GLIBC_FREE_LISTS_H

#include "src/leak/analysis/glibc_arenas.h"

/* Size of the chunk that holds a thread's cache. */
#define LEAK_GLIBC_CACHE_CHUNK 0x290u

struct leak_glibc_free_lists {
	struct leak_space *space;
	uint64_t *chunk; /* addresses of free chunks */
	size_t count, capacity;
	uint64_t *cache; /* chunks that hold threads' caches */
	size_t caches, cache_capacity;
	bool whole; /* no list was broken */
};

/* All 0 at first, but for `space` and `whole`. Each 0 or -ENOMEM. */
int leak_glibc_free_lists_fastbins(
	struct leak_glibc_free_lists *f, const struct leak_glibc_arena *a);
/* `chunk` is in use and of LEAK_GLIBC_CACHE_CHUNK bytes: adds what is in it, if it is a thread's
 * cache. An empty one looks like any block of zeros; `first`: it is the first chunk of an arena,
 * which a cache is. */
int leak_glibc_free_lists_cache(struct leak_glibc_free_lists *f, uint64_t chunk, bool first);
/* After the last one: whether a chunk is free, by binary search. */
void leak_glibc_free_lists_finish(struct leak_glibc_free_lists *f);
bool leak_glibc_free_lists_has(const struct leak_glibc_free_lists *f, uint64_t chunk);
void leak_glibc_free_lists_free(struct leak_glibc_free_lists *f);

#endif
