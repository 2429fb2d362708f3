/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asking the kernel seldom while it refuses. Each allocation would ask for the same memory, several
 * times; so after some refusals in a row only every other request is passed on, then every fourth,
 * and so on. What is read and written back may be another thread's by then: it is one request more
 * or less. Any thread, inside hooks.
 */
#ifndef SHM_REFUSAL_H
#define SHM_REFUSAL_H

#include "shm/atomic.h"

/* Refusals in a row that pass for chance. */
#define REFUSAL_FREE 16u
/* At worst one request in so many asks the kernel: then its answer costs less than the requests. */
#define REFUSAL_MOST_LOG2 10u

/* Whether this request is to be refused without asking. `pass`: how many more are. */
static inline bool refusal_passes_over(uint32_t *pass)
{
	uint32_t left = ht_load_relaxed_32(pass);

	if (left == 0)
		return false;
	ht_store_relaxed_32(pass, left - 1);
	return true;
}

/* The kernel has refused. `streak`: how often in a row. */
static inline void refusal_note(uint32_t *streak, uint32_t *pass)
{
	uint32_t now = ht_load_relaxed_32(streak);
	uint32_t over = now < REFUSAL_FREE ? 0 : now - REFUSAL_FREE;

	if (over < REFUSAL_MOST_LOG2)
		ht_store_relaxed_32(streak, now + 1);
	ht_store_relaxed_32(pass, (1u << over) - 1);
}

/* It has not. */
static inline void refusal_end(uint32_t *streak)
{
	if (ht_load_relaxed_32(streak) != 0)
		ht_store_relaxed_32(streak, 0);
}

#endif
