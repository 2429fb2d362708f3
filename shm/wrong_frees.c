/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of wrong frees (wrong_frees.h): a hash whose entries are claimed by compare-and-swap.
 * Inside hooks, on any thread; no system calls but those that populate it, once.
 */
#include "shm/wrong_frees.h"

#include "shm/commit.h"

static struct ht_wrong_frees *table_of(const struct segment *s)
{
	uint64_t at = s->header->region[HT_REGION_WRONG_FREES].offset;

	return commit_range(s, at, sizeof(struct ht_wrong_frees)) == 0 ? segment_at(s, at) : NULL;
}

/* The entry of a key, claimed if it is new. NULL: there is no room. Relaxed: the key stands for
 * itself, and its counts begin at 0. */
static struct ht_wrong_free *entry_of(struct ht_wrong_frees *table, uint64_t key)
{
	uint64_t home = (key * 0x9e3779b97f4a7c15ull >> 32) % HT_WRONG_MOST;

	for (uint32_t i = 0; i < HT_WRONG_PROBES; i++) {
		struct ht_wrong_free *e = &table->entry[(home + i) % HT_WRONG_MOST];
		uint64_t seen = ht_load_relaxed_64(&e->key);

		if (seen == key || (seen == 0 && ht_cas_relaxed_64(&e->key, &seen, key)) ||
			seen == key)
			return e;
	}
	return NULL;
}

void wrong_frees_add(const struct segment *s, const struct wrong_free *w, uint32_t site)
{
	struct ht_wrong_frees *table = table_of(s);
	struct ht_wrong_free *e;

	if (!table)
		return;
	ht_add_relaxed_64(&table->count[w->kind], 1);
	e = entry_of(table, ht_wrong_key(w->kind, site, w->alloc_site));
	if (!e) {
		ht_add_relaxed_64(&table->refused[w->kind], 1);
		return;
	}
	ht_add_relaxed_64(&e->count, 1);
	ht_add_relaxed_64(&e->bytes, w->bytes);
	ht_store_relaxed_64(&e->addr, w->addr);
	ht_store_relaxed_64(&e->offset, w->offset);
	ht_store_relaxed_64(&e->want, w->want);
	ht_store_relaxed_64(&e->first_site, w->first_site);
}
