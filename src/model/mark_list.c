/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marks of a program image (mark_list.h), on the main thread. */
#include "src/model/mark_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"

static int site_compare(const void *pa, const void *pb)
{
	const struct snap_moment_site *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

int moments_add(struct moments *m, const struct snap_moment *moment)
{
	size_t bytes = moment->nsites * sizeof(struct snap_moment_site);
	struct snap_moment *copy = malloc(sizeof(*copy) + bytes);
	struct snap_moment_site *sites;

	if (!copy)
		return -ENOMEM;
	*copy = *moment;
	sites = (struct snap_moment_site *)(copy + 1);
	if (bytes)
		memcpy(sites, moment->sites, bytes);
	qsort(sites, moment->nsites, sizeof(*sites), site_compare);
	copy->sites = sites;
	if (m->last && copy->number <= m->last->number)
		copy->number = m->last->number + 1;
	copy->before = m->last;
	m->last = copy;
	m->count++;
	return 0;
}

/* Casting const away is safe: only readers of a snapshot see it as const. */
static struct snap_moment *moment_before(const struct snap_moment *moment)
{
	return (struct snap_moment *)(uintptr_t)moment->before;
}

struct snap_moment *moments_find(const struct moments *m, unsigned number)
{
	struct snap_moment *at = m->last;

	while (at && at->number != number)
		at = moment_before(at);
	return at;
}

void moments_name(struct snap_moment *moment, const char *name)
{
	text_clean(moment->name, sizeof(moment->name), name, strlen(name));
}

void moments_free(struct moments *m)
{
	while (m->last) {
		struct snap_moment *before = moment_before(m->last);

		free(m->last);
		m->last = before;
	}
	m->count = 0;
}

struct snap_moment_site moments_site(const struct snap_moment *moment, uint32_t id)
{
	const struct snap_moment_site *found = NULL;

	if (moment && moment->nsites)
		found = bsearch(&(struct snap_moment_site){ .id = id }, moment->sites,
			moment->nsites, sizeof(*moment->sites), site_compare);
	return found ? *found : (struct snap_moment_site){ .id = id };
}

static uint64_t increase(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void site_since(const struct snapshot *s, struct snap_site *site)
{
	struct snap_moment_site from = moments_site(s->since, site->id);
	struct snap_moment_site to = { .live_bytes = site->live_bytes,
		.live_blocks = site->live_blocks,
		.allocs = site->allocs,
		.alloc_bytes = site->alloc_bytes };

	if (s->until)
		to = moments_site(s->until, site->id);
	site->since.bytes = (int64_t)(to.live_bytes - from.live_bytes);
	site->since.blocks = (int64_t)(to.live_blocks - from.live_blocks);
	site->since.allocs = increase(to.allocs, from.allocs);
	site->since.alloc_bytes = increase(to.alloc_bytes, from.alloc_bytes);
}

void moments_apply(const struct snapshot *s, struct snap_site *sites)
{
	for (size_t i = 0; s->since && i < s->nsites; i++)
		site_since(s, &sites[i]);
}

struct snap_since moments_between(
	const struct snapshot *s, const struct snap_moment *since, const struct snap_moment *until)
{
	const struct snap_totals *t = &s->totals;
	struct snap_moment now = { .live_bytes = t->live_bytes,
		.live_blocks = t->live_blocks,
		.allocs = t->allocs,
		.alloc_bytes = t->alloc_bytes };
	struct snap_moment none = { 0 };

	if (!until)
		until = &now;
	if (!since)
		since = &none;
	return (struct snap_since){ .bytes = (int64_t)(until->live_bytes - since->live_bytes),
		.blocks = (int64_t)(until->live_blocks - since->live_blocks),
		.allocs = increase(until->allocs, since->allocs),
		.alloc_bytes = increase(until->alloc_bytes, since->alloc_bytes) };
}

const char *moments_text(const struct snap_moment *moment, char buf[MOMENTS_TEXT])
{
	if (moment->name[0])
		snprintf(buf, MOMENTS_TEXT, "mark %u (%s)", moment->number, moment->name);
	else
		snprintf(buf, MOMENTS_TEXT, "mark %u", moment->number);
	return buf;
}
