/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the sites of stacks without room (ancestors.h). */
#include "src/session/ancestors.h"

#include <stdio.h>

#include "src/util/units.h"

void ancestors_begin(struct ancestors *a)
{
	a->allocs = a->live_bytes = a->kept = 0;
}

static void site_fold(struct read_site *to, struct read_site *from)
{
	to->allocs += from->allocs;
	to->frees += from->frees;
	to->alloc_bytes += from->alloc_bytes;
	to->live_bytes += from->live_bytes;
	to->temporary += from->temporary;
	to->at_peak_bytes += from->at_peak_bytes;
	to->at_peak_blocks += from->at_peak_blocks;
	to->spread.blocks += from->spread.blocks;
	to->spread.bytes += from->spread.bytes;
	to->spread.free_blocks += from->spread.free_blocks;
	to->spread.free_bytes += from->spread.free_bytes;
	if (to->peak_bytes < to->live_bytes)
		to->peak_bytes = to->live_bytes;
	from->allocs = from->at_peak_bytes = from->at_peak_blocks = 0;
}

void ancestors_fold(
	struct ancestors *a, const struct model *model, struct read_site *sites, uint32_t count)
{
	a->folded = 0;
	for (uint32_t i = 1; i < count; i++) {
		if (sites[i].allocs == 0 || model_site_known(model, i))
			continue;
		site_fold(&sites[0], &sites[i]);
		a->folded++;
	}
}

void ancestors_add(struct ancestors *a, const struct read_site *site)
{
	if ((site->flags & HT_SITE_ANCESTOR) == 0) {
		a->kept++;
		return;
	}
	a->allocs += site->allocs;
	a->live_bytes += site->live_bytes;
}

void ancestors_fill(const struct ancestors *a, struct snap_totals *out)
{
	out->ancestor_allocs = a->allocs;
	out->ancestor_live_bytes = a->live_bytes;
}

const char *ancestors_notice(struct ancestors *a)
{
	char kept[UNITS_MAX + 8], allocs[UNITS_MAX], live[UNITS_MAX];

	if (a->folded > 0) {
		snprintf(a->notice, sizeof(a->notice),
			"%s: %s of them are one row, \"(stack not recorded)\"",
			a->is_full ? "too many call stacks for a viewer"
				   : "not all call stacks can be read",
			units_exact(kept, a->folded));
		return a->notice;
	}
	if (a->allocs == 0)
		return NULL;
	snprintf(a->notice, sizeof(a->notice),
		"no room for more than %s call stacks: %s allocations and %s live bytes are "
		"counted at "
		"callers",
		units_exact(kept, a->kept), units_count(allocs, a->allocs),
		units_bytes(live, a->live_bytes));
	return a->notice;
}
