/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asking the kernel seldom while it refuses. Each allocation would ask for the same memory, several
 * times; so after some refusals in a row only every other request is passed on, then every fourth,
 * and so on. What is read and written back may be another thread's by then: it is one request more
 * or less. Any thread, inside hooks.
 */
#ifndef SHM_BACKOFF_H
#define SHM_BACKOFF_H

#include "shm/atomic.h"

/* Refusals in a row that pass for chance. */
#define BACKOFF_FREE 16u
/* At worst one request in so many asks the kernel: then its answer costs less than the requests. */
#define BACKOFF_MAX_LOG2 10u

/* Whether this request is to be refused without asking. `pass`: how many more are. */
static inline bool backoff_skip(uint32_t *pass)
{
	uint32_t left = ht_load_relaxed_32(pass);

	if (left == 0)
		return false;
	ht_store_relaxed_32(pass, left - 1);
	return true;
}

/* The kernel has refused. `streak`: how often in a row. */
static inline void backoff_failed(uint32_t *streak, uint32_t *pass)
{
	uint32_t now = ht_load_relaxed_32(streak);
	uint32_t over = now < BACKOFF_FREE ? 0 : now - BACKOFF_FREE;

	if (over < BACKOFF_MAX_LOG2)
		ht_store_relaxed_32(streak, now + 1);
	ht_store_relaxed_32(pass, (1u << over) - 1);
}

/* It has not. */
static inline void backoff_reset(uint32_t *streak)
{
	if (ht_load_relaxed_32(streak) != 0)
		ht_store_relaxed_32(streak, 0);
}

#endif
