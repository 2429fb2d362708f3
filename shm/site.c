/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters. Runs in every hook. The program-wide and per-site live bytes are one atomic each, so
 * that their peaks are exact; everything that a thread can count for itself is in its slot.
 */
#include "shm/site.h"

/* Raises *peak to `value` if it is lower; true when it did. */
static bool raise_peak(uint64_t *peak, uint64_t value)
{
	uint64_t now = ht_load_relaxed_64(peak);

	while ((int64_t)value > (int64_t)now)
		if (ht_cas_relaxed_64(peak, &now, value))
			return true;
	return false;
}

static struct ht_hist *hist_at(const struct segment *s, uint32_t site)
{
	return segment_at(s, segment_element(s, HT_REGION_HISTS, site, sizeof(struct ht_hist)));
}

void site_alloc(const struct segment *s, uint32_t site, uint32_t slot, uint64_t size)
{
	struct ht_header *h = s->header;
	struct ht_thread *t = thread_at(s, slot);
	struct ht_site *e = stack_site(s, site);
	uint32_t bucket = site_size_bucket(size);

	segment_count(s, &e->allocs, 1);
	segment_count(s, &e->alloc_bytes, size);
	raise_peak(&e->peak_bytes, segment_sum(s, &e->live_bytes, size));
	segment_count(s, &hist_at(s, site)->size_allocs[bucket], 1);
	thread_add(slot, &t->size_allocs[bucket], 1);
	thread_add(slot, &t->size_alloc_bytes[bucket], size);
	if (raise_peak(&h->peak_bytes, segment_sum(s, &h->live_bytes, size)))
		ht_store_relaxed_64(&h->peak_ns, ht_load_relaxed_64(&h->clock_ns));
}

void site_free(const struct segment *s, uint32_t site, uint32_t slot, const struct site_end *end)
{
	struct ht_thread *t = thread_at(s, slot);
	struct ht_site *e = stack_site(s, site);
	struct ht_hist *hist = hist_at(s, site);
	uint32_t bucket = site_size_bucket(end->size), life = site_life_bucket(end->life_ticks);

	segment_count(s, &e->frees, 1);
	segment_count(s, &e->live_bytes, -end->size);
	segment_count(s, &hist->size_frees[bucket], 1);
	segment_count(s, &hist->life[life], 1);
	thread_add(slot, &t->size_frees[bucket], 1);
	thread_add(slot, &t->size_free_bytes[bucket], end->size);
	thread_add(slot, &t->life[life], 1);
	segment_count(s, &s->header->live_bytes, -end->size);
	if (end->temporary) {
		segment_count(s, &e->temporary, 1);
		thread_add(slot, &t->temporary, 1);
	}
}
