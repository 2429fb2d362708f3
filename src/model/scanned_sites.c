/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of call sites from a leak scan (scanned_sites.h). */
#include "src/model/scanned_sites.h"

#include <stdlib.h>
#include <string.h>

#include "src/util/intern.h"

struct scanned_site {
	uint64_t retained_bytes;
	struct snap_type type;
};

static void forget(struct scanned_sites *s)
{
	free(s->site);
	s->site = NULL;
	s->count = 0;
	s->typed = (struct snap_typed){ 0 };
}

/* Out of memory, the type is unknown. */
static const char *name_keep(struct scanned_sites *s, const char *name)
{
	if (s->borrows)
		return name;
	if (name && !s->names)
		s->names = intern_new();
	return name && s->names ? intern_text(s->names, name, strlen(name)) : NULL;
}

/* A site has a row for each class, and two for one that is suppressed in part. */
static void row_add(struct scanned_sites *s, const struct snap_leak_site *row)
{
	struct scanned_site *site = &s->site[row->site];

	site->retained_bytes += row->retained.bytes;
	site->type.of += row->sum.blocks;
	if (!site->type.name && row->type) {
		site->type.name = name_keep(s, row->type);
		site->type.blocks = row->type_blocks;
	}
}

void scanned_sites_take(struct scanned_sites *s, const struct snap_leaks *leaks)
{
	bool known = leaks && leaks->held.blocks > 0;

	forget(s);
	for (size_t i = 0; known && i < leaks->nsites; i++)
		if (leaks->sites[i].site >= s->count)
			s->count = leaks->sites[i].site + (size_t)1;
	if (known)
		s->site = calloc(s->count + 1, sizeof(*s->site));
	if (!s->site)
		return;
	for (size_t i = 0; i < leaks->nsites; i++)
		row_add(s, &leaks->sites[i]);
	s->typed = (struct snap_typed){ true, leaks->typed, leaks->held };
}

void scanned_sites_fill(const struct scanned_sites *s, struct snapshot *made)
{
	struct snap_site *site = (struct snap_site *)(uintptr_t)made->sites;

	made->has_retained = s->site != NULL;
	made->typed = s->typed;
	for (size_t i = 0; s->site && i < made->nsites; i++)
		if (site[i].id < s->count) {
			site[i].retained_bytes = s->site[site[i].id].retained_bytes;
			site[i].type = s->site[site[i].id].type;
		}
}

void scanned_sites_free(struct scanned_sites *s)
{
	forget(s);
	if (s->names)
		intern_free(s->names);
	s->names = NULL;
}

void scanned_sites_apply(const struct snap_leaks *leaks, struct snapshot *made)
{
	struct scanned_sites s = { .borrows = true };

	scanned_sites_take(&s, leaks);
	scanned_sites_fill(&s, made);
	scanned_sites_free(&s);
}
