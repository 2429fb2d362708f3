/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites by id (site_index.h). A model's lists are in the order of the ids, so that most often there
 * is nothing to sort; but a snapshot does not promise that. Main thread.
 */
#include "src/model/site_index.h"

#include <stdlib.h>

static bool ids_rise(const struct snap_site *sites, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (sites[i].id < sites[i - 1].id)
			return false;
	return true;
}

/* ctx: the sites. Equal ids stay in the order of the list. */
static int id_compare(const void *x, const void *y, void *ctx)
{
	const struct snap_site *sites = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (sites[a].id != sites[b].id)
		return sites[a].id < sites[b].id ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void list_make(struct site_index_list *l, const struct snap_site *sites, size_t count)
{
	*l = (struct site_index_list){
		.sites = sites, .count = count, .rises = ids_rise(sites, count)
	};
	if (!l->rises)
		l->order = malloc(count * sizeof(*l->order));
	for (size_t i = 0; l->order && i < count; i++)
		l->order[i] = (uint32_t)i;
	if (l->order)
		qsort_r(l->order, count, sizeof(*l->order), id_compare, (void *)(uintptr_t)sites);
}

static const struct snap_site *list_search(const struct site_index_list *l, uint32_t id)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->sites[i].id == id)
			return &l->sites[i];
	return NULL;
}

static const struct snap_site *site_at(const struct site_index_list *l, size_t i)
{
	return &l->sites[l->order ? l->order[i] : i];
}

/* The first of that id. */
static const struct snap_site *list_find(const struct site_index_list *l, uint32_t id)
{
	size_t low = 0, high = l->count;

	if (!l->rises && !l->order)
		return list_search(l, id);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (site_at(l, middle)->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->count && site_at(l, low)->id == id ? site_at(l, low) : NULL;
}

void site_index_make(struct site_index *x, const struct snapshot *s)
{
	list_make(&x->heap, s->sites, s->nsites);
	list_make(&x->mapped, s->mapped, s->nmapped);
	list_make(&x->inherited, s->inherited, s->ninherited);
}

void site_index_free(struct site_index *x)
{
	free(x->heap.order);
	free(x->mapped.order);
	free(x->inherited.order);
}

const struct snap_site *site_index_find_heap(const struct site_index *x, uint32_t id)
{
	return list_find(&x->heap, id);
}

const struct snap_site *site_index_find(const struct site_index *x, uint32_t id)
{
	const struct snap_site *site;

	if (snapshot_is_inherited(id))
		return list_find(&x->inherited, id);
	site = list_find(&x->heap, id);
	return site ? site : list_find(&x->mapped, id);
}
