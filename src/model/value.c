/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One figure of a call site by its word (value.h). */
#include "src/model/value.h"

#include <string.h>

const struct value_info value_table[VALUE_COUNT] = {
	[VALUE_LIVE] = { "live", "live bytes", true },
	[VALUE_BLOCKS] = { "blocks", "live blocks", false },
	[VALUE_ALLOCATED] = { "allocated", "allocated bytes", true },
	[VALUE_ALLOCS] = { "allocs", "allocations", false },
	[VALUE_TEMPORARY] = { "temporary", "temporary allocations", false },
	[VALUE_PEAK] = { "peak", "bytes at the peak", true },
	[VALUE_OWN_PEAK] = { "own-peak", "own peak bytes", true },
};

int value_find(const char *word)
{
	for (int v = 0; v < VALUE_COUNT; v++)
		if (!strcmp(value_table[v].word, word))
			return v;
	return -1;
}

uint64_t value_of(const struct snap_site *site, enum snap_value v)
{
	const uint64_t values[VALUE_COUNT] = { [VALUE_LIVE] = site->live_bytes,
		[VALUE_BLOCKS] = site->live_blocks,
		[VALUE_ALLOCATED] = site->alloc_bytes,
		[VALUE_ALLOCS] = site->allocs,
		[VALUE_TEMPORARY] = site->temporary,
		[VALUE_PEAK] = site->at_peak_bytes,
		[VALUE_OWN_PEAK] = site->peak_live_bytes };

	return values[v];
}

uint64_t value_total(const struct snap_totals *t, enum snap_value v)
{
	const uint64_t values[VALUE_COUNT] = { [VALUE_LIVE] = t->live_bytes,
		[VALUE_BLOCKS] = t->live_blocks,
		[VALUE_ALLOCATED] = t->alloc_bytes,
		[VALUE_ALLOCS] = t->allocs,
		[VALUE_TEMPORARY] = t->temporary,
		[VALUE_PEAK] = t->has_at_peak ? t->at_peak_bytes : t->peak_live_bytes,
		[VALUE_OWN_PEAK] = t->peak_live_bytes };

	return values[v];
}

bool value_known(const struct snap_totals *t, enum snap_value v)
{
	return v != VALUE_PEAK || t->has_at_peak;
}
