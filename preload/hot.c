/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The out-of-line parts of the hot path (hot.h). In hooks, on any thread, with the re-entry guard
 * held.
 */
#include "preload/hot.h"

void hot_alloc_unplaced(struct recorder *r, const struct hot_alloc *a)
{
	struct stack_cache_record *root = stack_cache_root(&r->guards, a->frame);
	uint64_t addr = (uint64_t)(uintptr_t)a->p;

	if (addr == 0)
		event_count_failed(r, 1);
	else
		event_alloc_unprepared(r, hot_leaf(r, root, a->frame, a->function, a->checks), NULL,
			addr, a->size);
}

void hot_alloc_written(struct recorder *r, const struct hot_alloc *a)
{
	struct stack_cache_leaf *leaf = hot_alloc_counted(r, a);

	if (leaf)
		event_append(r, (uint64_t)(uintptr_t)a->p, a->size, leaf->site, HT_EVENT_ALLOC);
}

void hot_freed_written(struct recorder *r, const struct hot_freed *f)
{
	event_append(r, f->addr, f->size, hot_freed_counted(r, f), HT_EVENT_FREE);
}
