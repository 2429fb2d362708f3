/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The counters of a call site and of the program. Relaxed atomics: each word is exact by itself at
 * any moment, and all agree when the program is quiet. Any thread.
 */
#ifndef SHM_SITE_H
#define SHM_SITE_H

#include "shm/stack.h"
#include "shm/thread.h"

/* Histogram bucket of a size: 0 holds sizes up to 8, then up to 16, 32, ... */
static inline uint32_t site_size_bucket(uint64_t size)
{
	uint32_t bucket;

	if (size <= 8)
		return 0;
	bucket = 61u - (uint32_t)__builtin_clzll(size - 1);
	return bucket < HT_SIZE_BUCKETS ? bucket : HT_SIZE_BUCKETS - 1;
}

/* Histogram bucket of a lifetime in ticks: below 1, 4, 16, ... */
static inline uint32_t site_life_bucket(uint64_t ticks)
{
	uint32_t bucket = ticks == 0 ? 0 : (65u - (uint32_t)__builtin_clzll(ticks)) / 2;

	return bucket < HT_LIFE_BUCKETS ? bucket : HT_LIFE_BUCKETS - 1;
}

/* A block of `size` came to life at `site`, allocated by the owner of `slot`. */
void site_alloc(const struct segment *s, uint32_t site, uint32_t slot, uint64_t size);

struct site_end {
	uint64_t size;
	uint64_t life_ticks;
	bool temporary; /* freed by its own thread, as that thread's very next event */
};
/* A block of `site` ended, freed by the owner of `slot`. */
void site_free(const struct segment *s, uint32_t site, uint32_t slot, const struct site_end *end);

#endif
