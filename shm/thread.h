/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thread slots: the totals and the ring of each thread that allocates. A slot has one owner, who
 * updates it with plain loads and stores; slot 0 is shared by threads that found none and takes
 * atomic adds. Slots of threads that are gone are taken over without resetting anything.
 */
#ifndef SHM_THREAD_H
#define SHM_THREAD_H

#include "shm/commit.h"

/* Takes a slot for the calling thread, with the kernel's id `tid`. `alive` reports whether another
 * id still runs (the library asks the kernel). Never fails: 0 is the shared slot. */
uint32_t thread_claim(const struct segment *s, uint32_t tid, bool (*alive)(uint32_t tid));

/* Releases the slot: the calling thread, its owner, is about to end. */
void thread_release(const struct segment *s, uint32_t slot);

static inline struct ht_thread *thread_at(const struct segment *s, uint32_t slot)
{
	return segment_at(s, segment_element(s, HT_REGION_THREADS, slot, sizeof(struct ht_thread)));
}

/* Adds to a counter of slot `slot`. Single writer: a load and a store are an exact add there. */
static inline void thread_add(uint32_t slot, uint64_t *counter, uint64_t value)
{
	if (__builtin_expect(slot != 0, 1))
		ht_store_relaxed_64(counter, ht_load_relaxed_64(counter) + value);
	else
		ht_add_relaxed_64(counter, value);
}

#endif
