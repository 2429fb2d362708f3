/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the sites of stacks without room (ancestors.h). */
#include "src/session/ancestors.h"

#include <stdio.h>

#include "src/util/units.h"

void ancestors_begin(struct ancestors *a)
{
	a->allocs = a->live_bytes = a->kept = 0;
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
