/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that the program allocated before it was recorded. None of them is in the live table;
 * they are known only by class: the bucket of their usable size, which the program's allocator
 * reports. The library counts their frees, inside hooks; a viewer counts the blocks themselves,
 * once.
 */
#ifndef SHM_BEFORE_H
#define SHM_BEFORE_H

#include "shm/counter.h"

/* The class of blocks whose number and sizes only an allocator's statistics say. */
#define BEFORE_OTHER (HT_BEFORE_CLASSES - 1)

/*
 * Makes the sites of all classes, from which on before_is_on. Before anything is recorded: they
 * follow each other. By the library, as it attaches to a running program; it allocates nothing.
 * 0, or -ENOMEM: they could not be made.
 */
int before_prepare(const struct segment *s);
/* Notes what statistics say that BEFORE_OTHER is, for the viewer that publishes it. */
static inline void before_other_note(const struct segment *s, uint64_t blocks, uint64_t bytes)
{
	ht_store_relaxed_64(&s->header->before_other_blocks, blocks);
	ht_store_relaxed_64(&s->header->before_other_bytes, bytes);
}

/* Whether a block that is not in the live table is one from before. */
static inline bool before_is_on(const struct segment *s)
{
	return ht_load_relaxed_32(&s->header->before_site) != 0;
}

/* counter_live, with what was there before. */
static inline uint64_t before_live(const struct segment *s, uint32_t slot)
{
	return counter_live(s, slot) + ht_load_relaxed_64(&s->header->before_bytes);
}

/* The site of a block of `usable` bytes, as malloc_usable_size says before it is freed. `listed`:
 * its allocator is one whose blocks a viewer can list (glibc's); else BEFORE_OTHER. */
static inline uint32_t before_site(const struct segment *s, uint64_t usable, bool listed)
{
	uint32_t class = listed ? counter_size_bucket(usable) : BEFORE_OTHER;

	return ht_load_relaxed_32(&s->header->before_site) + class;
}

/* Counts the free of such a block, which no one may count twice: by the hook that frees it, or,
 * once it has succeeded, the one that resized it. `o`: the thread's, or that of slot 0. Returns its
 * site, for an event. Its lifetime is what is known of it: since the recording began. */
uint32_t before_free(
	const struct segment *s, struct counter_owner *o, uint64_t usable, bool listed);

#endif
