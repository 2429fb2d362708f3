/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Retained bytes by call site (retained.h). */
#include "src/session/retained.h"

#include <stdlib.h>

void retained_take(struct retained *r, const struct snap_leaks *leaks)
{
	bool known = leaks && leaks->held.blocks > 0;

	retained_free(r);
	for (size_t i = 0; known && i < leaks->nsites; i++)
		if (leaks->sites[i].site >= r->count)
			r->count = leaks->sites[i].site + (size_t)1;
	if (known)
		r->bytes = calloc(r->count + 1, sizeof(*r->bytes));
	for (size_t i = 0; r->bytes && i < leaks->nsites; i++)
		r->bytes[leaks->sites[i].site] += leaks->sites[i].retained.bytes;
}

void retained_fill(const struct retained *r, struct snapshot *made)
{
	struct snap_site *site = (struct snap_site *)(uintptr_t)made->sites;

	made->has_retained = r->bytes != NULL;
	for (size_t i = 0; r->bytes && i < made->nsites; i++)
		if (site[i].id < r->count)
			site[i].retained_bytes = r->bytes[site[i].id];
}

void retained_free(struct retained *r)
{
	free(r->bytes);
	*r = (struct retained){ 0 };
}
