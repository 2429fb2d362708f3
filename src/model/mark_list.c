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
	const struct snap_mark_site *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

int mark_list_add(struct mark_list *m, const struct snap_mark *moment)
{
	size_t bytes = moment->nsites * sizeof(struct snap_mark_site);
	struct snap_mark *copy = malloc(sizeof(*copy) + bytes);
	struct snap_mark_site *sites;

	if (!copy)
		return -ENOMEM;
	*copy = *moment;
	sites = (struct snap_mark_site *)(copy + 1);
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
static struct snap_mark *moment_before(const struct snap_mark *moment)
{
	return (struct snap_mark *)(uintptr_t)moment->before;
}

struct snap_mark *mark_list_find(const struct mark_list *m, unsigned number)
{
	struct snap_mark *at = m->last;

	while (at && at->number != number)
		at = moment_before(at);
	return at;
}

void mark_list_rename(struct snap_mark *moment, const char *name)
{
	text_clean(moment->name, sizeof(moment->name), name, strlen(name));
}

void mark_list_free(struct mark_list *m)
{
	while (m->last) {
		struct snap_mark *before = moment_before(m->last);

		free(m->last);
		m->last = before;
	}
	m->count = 0;
}

struct snap_mark_site mark_list_site(const struct snap_mark *moment, uint32_t id)
{
	const struct snap_mark_site *found = NULL;

	if (moment && moment->nsites)
		found = bsearch(&(struct snap_mark_site){ .id = id }, moment->sites, moment->nsites,
			sizeof(*moment->sites), site_compare);
	return found ? *found : (struct snap_mark_site){ .id = id };
}

static uint64_t increase(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void site_since(const struct snapshot *s, struct snap_site *site)
{
	struct snap_mark_site from = mark_list_site(s->since, site->id);
	struct snap_mark_site to = { .live_bytes = site->live_bytes,
		.live_blocks = site->live_blocks,
		.allocs = site->allocs,
		.alloc_bytes = site->alloc_bytes };

	if (s->until)
		to = mark_list_site(s->until, site->id);
	site->since.bytes = (int64_t)(to.live_bytes - from.live_bytes);
	site->since.blocks = (int64_t)(to.live_blocks - from.live_blocks);
	site->since.allocs = increase(to.allocs, from.allocs);
	site->since.alloc_bytes = increase(to.alloc_bytes, from.alloc_bytes);
}

void mark_list_apply(const struct snapshot *s, struct snap_site *sites)
{
	for (size_t i = 0; s->since && i < s->nsites; i++)
		site_since(s, &sites[i]);
}

struct snap_since mark_list_between(
	const struct snapshot *s, const struct snap_mark *since, const struct snap_mark *until)
{
	const struct snap_totals *t = &s->totals;
	struct snap_mark now = { .live_bytes = t->live_bytes,
		.live_blocks = t->live_blocks,
		.allocs = t->allocs,
		.alloc_bytes = t->alloc_bytes };
	struct snap_mark none = { 0 };

	if (!until)
		until = &now;
	if (!since)
		since = &none;
	return (struct snap_since){ .bytes = (int64_t)(until->live_bytes - since->live_bytes),
		.blocks = (int64_t)(until->live_blocks - since->live_blocks),
		.allocs = increase(until->allocs, since->allocs),
		.alloc_bytes = increase(until->alloc_bytes, since->alloc_bytes) };
}

bool mark_list_is_counted(const struct snapshot *s, const struct snap_mark *to)
{
	const struct snap_mark *last = s->kept_until;

	return s->kept && (to ? last && to->number <= last->number : last == s->moments);
}

const char *mark_list_text(const struct snap_mark *moment, char buf[MARK_LIST_TEXT])
{
	if (moment->number == 0) /* where a range begins */
		snprintf(buf, MARK_LIST_TEXT, "%s", moment->name);
	else if (moment->name[0])
		snprintf(buf, MARK_LIST_TEXT, "mark %u (%s)", moment->number, moment->name);
	else
		snprintf(buf, MARK_LIST_TEXT, "mark %u", moment->number);
	return buf;
}
