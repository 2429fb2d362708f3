/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of leaks after suppressions (leak_rows.h). */
#include "src/scan/leak_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The suppressed part of a row. */
struct part {
	struct snap_leak_sum sum;
	struct snap_leak_sum indirect; /* of the blocks lost with it */
};

int leak_rows_make(struct leak_rows *rows, struct leak_result *r)
{
	rows->count = r->rows;
	rows->found = calloc(r->rows + 1, sizeof(*rows->found));
	rows->how = calloc(r->rows + 1, sizeof(*rows->how));
	rows->shown = calloc(2 * r->rows + 1, sizeof(*rows->shown));
	rows->block_lost = calloc(r->block_count + 1, sizeof(*rows->block_lost));
	if (!rows->found || !rows->how || !rows->shown || !rows->block_lost)
		return -ENOMEM;
	for (size_t i = 0; i < r->block_count; i++)
		rows->block_lost[i] = r->block[i].lost;
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		rows->sum[i] = (struct snap_leak_sum){ r->sum[i].blocks, r->sum[i].bytes };
	rows->lost_graph = r->lost_graph;
	r->lost_graph = (struct leak_lost_graph){ 0 };
	return 0;
}

void leak_rows_free(struct leak_rows *rows)
{
	free(rows->found);
	free(rows->how);
	free(rows->shown);
	free(rows->block_lost);
	leak_lost_graph_free(&rows->lost_graph);
	*rows = (struct leak_rows){ .count = 0 };
}

/* ---- suppressed blocks ---- */

static void sum_add(struct snap_leak_sum *s, uint64_t blocks, uint64_t bytes)
{
	s->blocks += blocks;
	s->bytes += bytes;
}

static struct snap_leak_sum sum_subtract(struct snap_leak_sum a, struct snap_leak_sum b)
{
	return (struct snap_leak_sum){ a.blocks - b.blocks, a.bytes - b.bytes };
}

/* The blocks that suppressed leaks lead to. NULL: none, or out of memory. */
static bool *blocks_suppressed(const struct leak_rows *rows)
{
	const struct leak_lost_graph *l = &rows->lost_graph;
	bool *suppressed = l->count ? calloc(l->count, sizeof(*suppressed)) : NULL, any = false;

	for (uint32_t i = 0; suppressed && i < l->count; i++) {
		suppressed[i] = l->row[i] != LEAK_NONE &&
				rows->how[l->row[i]] == SUPPRESSIONS_WITH_INDIRECT;
		any |= suppressed[i];
	}
	if (any && leak_lost_graph_reach(l, suppressed) == 0)
		return suppressed;
	free(suppressed);
	return NULL;
}

static void parts_count(const struct leak_rows *rows, const bool *suppressed, struct part *part)
{
	const struct leak_lost_graph *l = &rows->lost_graph;

	for (uint32_t i = 0; suppressed && i < l->count; i++) {
		if (!suppressed[i] || l->row[i] == LEAK_NONE)
			continue;
		sum_add(&part[l->row[i]].sum, 1, l->size[i]);
		if (l->leader[i] != LEAK_NONE && l->row[l->leader[i]] != LEAK_NONE)
			sum_add(&part[l->row[l->leader[i]]].indirect, 1, l->size[i]);
	}
	for (size_t i = 0; i < rows->count; i++)
		if (rows->how[i] != SUPPRESSIONS_NONE)
			part[i].sum = rows->found[i].sum;
}

/* ---- remaining and suppressed rows ---- */

/* Moves the remaining blocks to the front. Returns how many there are. */
static uint32_t blocks_partition(
	struct leak_rows *rows, const struct snap_leak_site *row, const bool *suppressed)
{
	size_t first = row->nblocks ? (size_t)(row->blocks - rows->blocks) : 0;
	struct snap_leak_block block[LEAK_SHOWN_BLOCKS];
	uint32_t lost[LEAK_SHOWN_BLOCKS], n = 0, left = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < row->nblocks && i < LEAK_SHOWN_BLOCKS; i++) {
			uint32_t number = rows->block_lost[first + i];

			if ((number != LEAK_NONE && suppressed[number]) != pass)
				continue;
			block[n] = rows->blocks[first + i];
			lost[n++] = number;
		}
		left = pass == 0 ? n : left;
	}
	memcpy(rows->blocks + first, block, n * sizeof(*block));
	memcpy(rows->block_lost + first, lost, n * sizeof(*lost));
	return left;
}

/* The part's sum in the previous scan. The growth of the row counts for the part, since it is
 * unknown which part grew. */
static struct snap_leak_sum before_part(const struct snap_leak_site *row, struct snap_leak_sum part)
{
	uint64_t blocks = part.blocks + row->before.blocks, bytes = part.bytes + row->before.bytes;

	return (struct snap_leak_sum){ blocks > row->sum.blocks ? blocks - row->sum.blocks : 0,
		bytes > row->sum.bytes ? bytes - row->sum.bytes : 0 };
}

/* Makes two rows at `out`. */
static void row_split(struct leak_rows *rows, const struct snap_leak_site *row,
	const struct part *part, const bool *suppressed, struct snap_leak_site *out)
{
	uint32_t left = suppressed ? blocks_partition(rows, row, suppressed) : row->nblocks;

	out[0] = out[1] = *row;
	out[0].retained = out[1].retained = (struct snap_leak_sum){ 0, 0 };
	out[0].cyclic = out[1].cyclic = (struct snap_leak_sum){ 0, 0 };
	out[0].cyclic_retained = out[1].cyclic_retained = (struct snap_leak_sum){ 0, 0 };
	out[0].sum = sum_subtract(row->sum, part->sum);
	out[0].indirect = sum_subtract(row->indirect, part->indirect);
	out[0].before = before_part(row, out[0].sum);
	out[0].nblocks = left;
	out[1].suppressed = true;
	out[1].sum = out[1].before = part->sum;
	out[1].indirect = part->indirect;
	out[1].blocks = row->nblocks ? row->blocks + left : NULL;
	out[1].nblocks = row->nblocks - left;
}

/* Makes the rows of a row at `out`. Returns how many. */
static size_t row_show(struct leak_rows *rows, const struct snap_leak_site *row,
	const struct part *part, const bool *suppressed, struct snap_leak_site *out)
{
	if (part->sum.blocks > 0 && part->sum.blocks < row->sum.blocks) {
		row_split(rows, row, part, suppressed, out);
		return 2;
	}
	*out = *row;
	out->suppressed = part->sum.blocks > 0;
	if (!out->suppressed)
		out->indirect = sum_subtract(row->indirect, part->indirect);
	return 1;
}

/* The scan's order. */
static int row_order(const void *left, const void *right)
{
	const struct snap_leak_site *a = left, *b = right;
	uint64_t x = a->sum.bytes + a->indirect.bytes, y = b->sum.bytes + b->indirect.bytes;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->suppressed - b->suppressed;
}

void leak_rows_show(struct leak_rows *rows, struct snap_leaks *out)
{
	struct part *part = calloc(rows->count + 1, sizeof(*part));
	bool *suppressed = part ? blocks_suppressed(rows) : NULL;

	out->sites = rows->shown;
	out->nsites = 0;
	memcpy(out->sum, rows->sum, sizeof(out->sum));
	out->suppressed = (struct snap_leak_sum){ 0, 0 };
	if (part)
		parts_count(rows, suppressed, part);
	for (size_t i = 0; part && i < rows->count; i++) {
		const struct snap_leak_site *row = &rows->found[i];

		out->nsites += row_show(rows, row, &part[i], suppressed, &rows->shown[out->nsites]);
		out->sum[row->class] = sum_subtract(out->sum[row->class], part[i].sum);
		sum_add(&out->suppressed, part[i].sum.blocks, part[i].sum.bytes);
	}
	if (out->nsites)
		qsort(rows->shown, out->nsites, sizeof(*rows->shown), row_order);
	free(part);
	free(suppressed);
}
