/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations by call site (live_allocs.h). */
#include "src/session/live_allocs.h"

#include <errno.h>
#include <stdlib.h>

static void counter_visit(void *ctx, uint32_t site, const struct read_site_thread *t)
{
	struct live_allocs *a = ctx;

	a->site[site] += t->allocs;
}

int live_allocs_read(struct live_allocs *a, struct read_segment *s)
{
	struct read_totals t;
	int rc = read_totals(s, &t);

	*a = (struct live_allocs){ 0 };
	if (rc != 0)
		return rc;
	a->site = calloc((size_t)t.sites + 1, sizeof(*a->site));
	if (!a->site)
		return -ENOMEM;
	a->all = t.allocs;
	a->sites = t.sites;
	return read_shares(s, t.sites, counter_visit, a);
}

void live_allocs_put(struct bytes *b, const struct live_allocs *a)
{
	bytes_number(b, a->all);
	bytes_number(b, a->sites);
	for (uint32_t i = 0; i < a->sites; i++)
		bytes_number(b, a->site[i]);
}

int live_allocs_get(struct bytes_cursor c, struct live_allocs *out)
{
	*out = (struct live_allocs){ .all = bytes_read(&c) };
	out->sites = (uint32_t)bytes_read_below(&c, HT_SITES_MAX);
	if (c.bad || out->sites > (size_t)(c.end - c.at)) { /* each takes a byte at least */
		out->sites = 0;
		return -EPROTO;
	}
	out->site = calloc((size_t)out->sites + 1, sizeof(*out->site));
	if (!out->site) {
		out->sites = 0;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < out->sites; i++)
		out->site[i] = bytes_read(&c);
	if (!c.bad && c.at == c.end)
		return 0;
	live_allocs_free(out);
	return -EPROTO;
}

uint64_t live_allocs_of(const struct live_allocs *a, uint32_t site)
{
	return site < a->sites ? a->site[site] : 0;
}

void live_allocs_free(struct live_allocs *a)
{
	free(a->site);
	*a = (struct live_allocs){ 0 };
}
