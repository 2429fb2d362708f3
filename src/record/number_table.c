/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sparse table by number (number_table.h). Any thread, on data of its own. */
#include "src/record/number_table.h"

#include <stdlib.h>
#include "src/util/array.h"

static struct number_table_part *part_reach(struct number_table *t, uint32_t index)
{
	while (t->parts <= index) {
		struct number_table_part **part =
			array_grow(t->part, t->parts, &t->room, sizeof(struct number_table_part *));

		if (!part)
			return NULL;
		t->part = part;
		part[t->parts++] = NULL;
	}
	if (!t->part[index])
		t->part[index] = calloc(1, sizeof(struct number_table_part));
	return t->part[index];
}

uint32_t *number_table_reach(struct number_table *t, uint32_t number)
{
	struct number_table_leaf **leaf;
	struct number_table_part *part;

	if (number >= NUMBER_TABLE_MAX)
		return NULL;
	part = part_reach(t, number >> (NUMBER_TABLE_LEAF_BITS + NUMBER_TABLE_PART_BITS));
	if (!part)
		return NULL;
	leaf = &part->leaf[number >> NUMBER_TABLE_LEAF_BITS & (NUMBER_TABLE_PART - 1)];
	if (!*leaf)
		*leaf = calloc(1, sizeof(struct number_table_leaf));
	return *leaf ? &(*leaf)->value[number & (NUMBER_TABLE_LEAF - 1)] : NULL;
}

struct walk {
	void (*each)(void *ctx, uint32_t number, uint32_t value);
	void *ctx;
};

static void leaf_walk(const struct walk *w, const struct number_table_leaf *leaf, uint32_t first)
{
	for (uint32_t i = 0; leaf && i < NUMBER_TABLE_LEAF; i++)
		if (leaf->value[i])
			w->each(w->ctx, first + i, leaf->value[i]);
}

void number_table_each(const struct number_table *t,
	void (*each)(void *ctx, uint32_t number, uint32_t value), void *ctx)
{
	const struct walk w = { each, ctx };

	for (uint32_t i = 0; i < t->parts; i++)
		for (uint32_t k = 0; t->part[i] && k < NUMBER_TABLE_PART; k++)
			leaf_walk(&w, t->part[i]->leaf[k],
				(i << NUMBER_TABLE_PART_BITS | k) << NUMBER_TABLE_LEAF_BITS);
}

void number_table_free(struct number_table *t)
{
	for (size_t i = 0; i < t->parts; i++) {
		for (uint32_t k = 0; t->part[i] && k < NUMBER_TABLE_PART; k++)
			free(t->part[i]->leaf[k]);
		free(t->part[i]);
	}
	free(t->part);
	*t = (struct number_table){ 0 };
}
