/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that stay lost (lost_blocks.h). */
#include "src/leak/analysis/lost_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "src/leak/analysis/classes.h"

static bool is_lost(const struct leak_graph *g, uint32_t i)
{
	return g->class[i] != LEAK_REACHABLE && g->blocks->block[i].birth != LEAK_BIRTH_UNSURE;
}

int leak_lost_blocks_collect(struct leak_lost_blocks *l, const struct leak_graph *g)
{
	uint32_t n = g->blocks->count;

	l->count = 0;
	for (uint32_t i = 0; i < n; i++)
		l->count += is_lost(g, i);
	l->block = malloc((l->count + 1) * sizeof(*l->block));
	if (!l->block)
		return -ENOMEM;
	l->count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (is_lost(g, i))
			l->block[l->count++] = g->blocks->block[i];
	return 0;
}

void leak_lost_blocks_free(struct leak_lost_blocks *l)
{
	free(l->block);
	*l = (struct leak_lost_blocks){ 0 };
}

static bool is_same(const struct leak_block *a, const struct leak_block *b)
{
	return a->addr == b->addr && a->birth == b->birth && a->site == b->site;
}

size_t leak_lost_blocks_intersect(struct leak_lost_blocks *l, const struct leak_graph *g)
{
	size_t kept = 0, before = l->count;

	for (size_t i = 0; i < before; i++) {
		uint32_t at = leak_blocks_from(g->blocks, l->block[i].addr);

		if (at < g->blocks->count && is_same(&g->blocks->block[at], &l->block[i]) &&
			is_lost(g, at))
			l->block[kept++] = l->block[i];
	}
	l->count = kept;
	return before - kept;
}

bool leak_lost_blocks_apply(const struct leak_lost_blocks *then, struct leak_graph *g)
{
	bool any = false;
	size_t at = 0;

	for (uint32_t i = 0; i < g->blocks->count; i++) {
		const struct leak_block *b = &g->blocks->block[i];

		while (at < then->count && then->block[at].addr < b->addr)
			at++;
		if (g->class[i] == LEAK_REACHABLE ||
			(at < then->count && is_same(&then->block[at], b)))
			continue;
		if (b->birth == LEAK_BIRTH_UNSURE && g->class[i] != LEAK_POSSIBLE)
			leak_graph_forget_block(g, i);
		else
			leak_graph_root_block(g, i);
		any = true;
	}
	return any;
}
