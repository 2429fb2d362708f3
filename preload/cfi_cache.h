/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules that were read (cfi.h), by a key of 64 bits, for all threads: words that are not 0. A
 * rule may be forgotten at any time. Any thread, in hooks; no locks.
 *
 * It is a table in which a key has two places. The first is in a page that neighbouring code has in
 * common, so a small program touches few pages; the second, where the first is taken, is anywhere.
 */
#ifndef PRELOAD_CFI_CACHE_H
#define PRELOAD_CFI_CACHE_H

#include "shm/atomic.h"

#define CFI_CACHE_LOG2	    15u /* 512 KB, private: the return addresses of a large program */
#define CFI_CACHE_PAGE_LOG2 8u /* entries in a page */
#define CFI_CACHE_NEAR	    16u /* 64 KB of code: a small program runs some dozens of those */
#define CFI_CACHE_HASH	    0x9e3779b97f4a7c15ull

/*
 * Two words, written without a lock: `check` is key ^ rule, so a mixture of two entries' words
 * matches no key (Hyatt and Mann, "A lock-less transposition table", ICGA Journal 2002). Relaxed:
 * each pair is checked by itself.
 */
struct cfi_cache_entry {
	uint64_t check;
	uint64_t rule;
};

extern struct cfi_cache_entry cfi_cache[1u << CFI_CACHE_LOG2] __attribute__((visibility("hidden")));

/* Where the rule of a key may be put. */
struct cfi_cache_place {
	struct cfi_cache_entry *entry;
};

/* When recording starts. */
void cfi_cache_start(void);
/* A viewer detaches: gives the memory back. The next session numbers modules anew. */
void cfi_cache_forget(void);
/* The rule of a key; 0: there is none, and *place is for it. */
uint64_t cfi_cache_search(uint64_t key, struct cfi_cache_place *place);
void cfi_cache_put(const struct cfi_cache_place *place, uint64_t key, uint64_t rule);

static inline struct cfi_cache_entry *cfi_cache_near(uint64_t key)
{
	uint64_t page = (key >> CFI_CACHE_NEAR) * CFI_CACHE_HASH >>
			(64 - CFI_CACHE_LOG2 + CFI_CACHE_PAGE_LOG2);

	return &cfi_cache[page << CFI_CACHE_PAGE_LOG2 |
			  key * CFI_CACHE_HASH >> (64 - CFI_CACHE_PAGE_LOG2)];
}

/* The rule of a key at its first place; 0: it is not there. */
static inline uint64_t cfi_cache_first(uint64_t key)
{
	const struct cfi_cache_entry *e = cfi_cache_near(key);
	uint64_t rule = ht_load_relaxed_64(&e->rule), check = ht_load_relaxed_64(&e->check);

	return (check ^ rule) == key ? rule : 0;
}

#endif
