/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rates of threads (thread_rates.h), for model.c, on the main thread. A new slot was zero before,
 * as its counters start there.
 */
#include "src/model/thread_rates.h"

#include <stdlib.h>
#include <string.h>

struct thread_past {
	uint64_t allocs[RATES_READINGS], frees[RATES_READINGS];
};

static bool past_reserve(struct thread_rates *r, uint32_t slot)
{
	uint32_t slots = slot + slot / 2 + 16;
	struct thread_past *past;

	if (slot < r->slots)
		return true;
	past = realloc(r->past, slots * sizeof(*past));
	if (!past)
		return false;
	memset(past + r->slots, 0, (slots - r->slots) * sizeof(*past));
	r->past = past;
	r->slots = slots;
	return true;
}

void thread_rates_update(
	struct thread_rates *r, struct snap_thread *t, size_t n, struct rates_window w)
{
	for (size_t i = 0; i < n; i++) {
		struct thread_past *past;

		if (!past_reserve(r, t[i].slot))
			continue;
		past = &r->past[t[i].slot];
		if (w.valid) {
			t[i].allocs_per_s = rates_frequency(w, past->allocs[w.slot], t[i].allocs);
			t[i].frees_per_s = rates_frequency(w, past->frees[w.slot], t[i].frees);
		}
		if (w.keep < 0)
			continue;
		past->allocs[w.keep] = t[i].allocs;
		past->frees[w.keep] = t[i].frees;
	}
}

void thread_rates_free(struct thread_rates *r)
{
	free(r->past);
}
