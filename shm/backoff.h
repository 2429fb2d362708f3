/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Backs off while the kernel refuses memory. Each allocation would request the same memory, several
 * times. So after some refusals in a row only every other request is passed on, then every fourth,
 * and so on. Races between threads only cost or save one request. Any thread, inside hooks.
 */
#ifndef SHM_BACKOFF_H
#define SHM_BACKOFF_H

#include "shm/atomic.h"

/* Refusals in a row without a back-off. */
#define BACKOFF_FREE 16u
/* At worst one request in 2^10 reaches the kernel: then the kernel's refusals cost less than the
 * requests. */
#define BACKOFF_MAX_LOG2 10u

/* Whether to refuse this request without asking the kernel. `pass`: requests still to refuse. */
static inline bool backoff_skip(uint32_t *pass)
{
	uint32_t left = ht_load_relaxed_32(pass);

	if (left == 0)
		return false;
	ht_store_relaxed_32(pass, left - 1);
	return true;
}

/* The kernel has refused. `streak`: refusals in a row. */
static inline void backoff_failed(uint32_t *streak, uint32_t *pass)
{
	uint32_t now = ht_load_relaxed_32(streak);
	uint32_t over = now < BACKOFF_FREE ? 0 : now - BACKOFF_FREE;

	if (over < BACKOFF_MAX_LOG2)
		ht_store_relaxed_32(streak, now + 1);
	ht_store_relaxed_32(pass, (1u << over) - 1);
}

/* The kernel has granted. */
static inline void backoff_reset(uint32_t *streak)
{
	if (ht_load_relaxed_32(streak) != 0)
		ht_store_relaxed_32(streak, 0);
}

#endif
