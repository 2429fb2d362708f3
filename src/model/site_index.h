/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sites of a snapshot by id, for whoever looks up many: snapshot_site searches all of them each
 * time. Made for one pass over a list, on the main thread.
 */
#ifndef SRC_MODEL_SITE_INDEX_H
#define SRC_MODEL_SITE_INDEX_H

#include "src/model/snapshot.h"

struct site_index_list {
	const struct snap_site *sites;
	size_t count;
	bool rises; /* the ids do: the list is its own index */
	uint32_t *order; /* else the positions by id; owned. NULL: no memory */
};

struct site_index {
	struct site_index_list heap, mapped, inherited;
};

/* The snapshot must outlive the index. Without memory, lookups are slow and right. */
void site_index_make(struct site_index *x, const struct snapshot *s);
void site_index_free(struct site_index *x);
/* As snapshot_site: the site of that id, of any kind, or NULL. */
const struct snap_site *site_index_find(const struct site_index *x, uint32_t id);
/* The same among snapshot.sites alone. */
const struct snap_site *site_index_find_heap(const struct site_index *x, uint32_t id);

#endif
