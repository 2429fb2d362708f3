/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cache of rules (cfi_cache.h). */
#include "preload/cfi_cache.h"

#include <sys/mman.h>

#include "preload/arch/page.h"
#include "preload/bulk.h"

BULK struct cfi_cache_entry cfi_cache[1u << CFI_CACHE_LOG2] __attribute__((aligned(PAGE_MOST)));

void cfi_cache_start(void)
{
	madvise(cfi_cache, sizeof(cfi_cache), MADV_DONTDUMP); /* core dumps are the program's */
}

void cfi_cache_forget(void)
{
	madvise(cfi_cache, sizeof(cfi_cache), MADV_DONTNEED); /* it becomes zeros */
}

static struct cfi_cache_entry *far(uint64_t key)
{
	return &cfi_cache[key * CFI_CACHE_HASH >> (64 - CFI_CACHE_LOG2)];
}

uint64_t cfi_cache_search(uint64_t key, struct cfi_cache_place *place)
{
	struct cfi_cache_entry *e = cfi_cache_near(key);
	uint64_t rule = ht_load_relaxed_64(&e->rule), check = ht_load_relaxed_64(&e->check);

	if (rule != 0 && (check ^ rule) != key) {
		e = far(key);
		rule = ht_load_relaxed_64(&e->rule);
		check = ht_load_relaxed_64(&e->check);
	}
	place->entry = e;
	return (check ^ rule) == key ? rule : 0;
}

void cfi_cache_put(const struct cfi_cache_place *place, uint64_t key, uint64_t rule)
{
	ht_store_relaxed_64(&place->entry->rule, rule);
	ht_store_relaxed_64(&place->entry->check, key ^ rule);
}
