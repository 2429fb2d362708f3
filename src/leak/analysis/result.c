/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a leak scan (result.h). */
#include "src/leak/analysis/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/holder_tree.h"
#include "src/leak/analysis/pointer_path.h"
#include "src/leak/analysis/root_names.h"
#include "src/leak/analysis/types.h"
#include "src/util/clock.h"

#define TEXT_MAX 320u /* size of a root's name */

struct maker {
	struct leak_result *out;
	const struct leak_root_context *found;
	const struct leak_blocks *blocks;
	uint32_t *index; /* the row of a call site and class, + 1 */
	uint32_t *number; /* of a lost block, in leak_result.lost_graph; NULL: not requested */
	struct leak_pointer_path trace;
	struct leak_holders holders; /* empty: not requested */
	uint32_t sites; /* above all ids */
	size_t block_capacity, step_capacity, text_capacity;
};

/* ---- rows ---- */

static void sum_add(struct leak_sum *s, uint64_t bytes)
{
	s->blocks++;
	s->bytes += bytes;
}

static uint32_t *index_of(const struct maker *m, uint32_t site, enum leak_class class)
{
	return &m->index[(size_t)site * LEAK_CLASSES + class];
}

static struct leak_row *row_of(struct maker *m, uint32_t site, enum leak_class class)
{
	struct leak_result *r = m->out;
	uint32_t *at = index_of(m, site, class);

	if (*at == 0) {
		r->row[r->rows] =
			(struct leak_row){ .class = class, .site = site, .oldest = UINT32_MAX };
		*at = (uint32_t)++r->rows;
	}
	return &r->row[*at - 1];
}

static int row_order(const void *left, const void *right)
{
	const struct leak_row *a = left, *b = right;
	uint64_t x = a->sum.bytes + a->indirect.bytes, y = b->sum.bytes + b->indirect.bytes;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

/* Keeps the oldest blocks of a row, sorted. */
static void row_block_add(struct maker *m, struct leak_row *row, uint32_t block)
{
	uint32_t birth = m->blocks->block[block].birth, i = row->blocks;

	if (i == LEAK_SHOWN_BLOCKS && m->blocks->block[row->shown[i - 1]].birth <= birth)
		return;
	if (i == LEAK_SHOWN_BLOCKS)
		i--;
	else
		row->blocks++;
	for (; i > 0 && m->blocks->block[row->shown[i - 1]].birth > birth; i--)
		row->shown[i] = row->shown[i - 1];
	row->shown[i] = block;
}

static void rule_count(struct leak_result *r, uint8_t heuristic, uint64_t bytes)
{
	unsigned rule = heuristic & ~LEAK_INDIRECTLY;

	if (rule != LEAK_BY_NONE)
		sum_add(&r->heuristic[rule], bytes);
	if (heuristic & LEAK_INDIRECTLY)
		sum_add(&r->heuristic_indirect[rule], bytes);
}

static void block_count(struct maker *m, uint32_t i)
{
	const struct leak_graph *g = m->found->graph;
	const struct leak_block *b = &m->blocks->block[i];
	enum leak_class class = g->class[i];
	struct leak_row *row;

	if (b->birth == LEAK_BIRTH_UNSURE)
		return;
	row = row_of(m, b->site, class);
	sum_add(&m->out->sum[class], b->size);
	sum_add(&row->sum, b->size);
	row_block_add(m, row, i);
	if (class == LEAK_REACHABLE)
		rule_count(m->out, g->heuristic[i], b->size);
	if (b->birth < row->oldest)
		row->oldest = b->birth;
	if (class == LEAK_INDIRECT)
		sum_add(&row_of(m, m->blocks->block[g->leader[i]].site, LEAK_DEFINITE)->indirect,
			b->size);
}

static int rows_make(struct maker *m)
{
	size_t cells;

	for (uint32_t i = 0; i < m->blocks->count; i++)
		if (m->blocks->block[i].site >= m->sites)
			m->sites = m->blocks->block[i].site + 1;
	cells = (size_t)m->sites * LEAK_CLASSES;
	m->index = calloc(cells + 1, sizeof(*m->index));
	m->out->row = calloc(cells + 1, sizeof(*m->out->row));
	if (!m->index || !m->out->row)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->blocks->count; i++)
		block_count(m, i);
	qsort(m->out->row, m->out->rows, sizeof(*m->out->row), row_order);
	for (size_t i = 0; i < m->out->rows; i++)
		*index_of(m, m->out->row[i].site, m->out->row[i].class) = (uint32_t)i + 1;
	return 0;
}

/* ---- what leads to what ---- */

static uint32_t row_number(void *ctx, uint32_t block)
{
	const struct maker *m = ctx;
	const struct leak_block *b = &m->blocks->block[block];

	if (b->birth == LEAK_BIRTH_UNSURE)
		return LEAK_NONE;
	return *index_of(m, b->site, m->found->graph->class[block]) - 1;
}

static int lost_graph_make(struct maker *m)
{
	m->number = malloc((m->blocks->count + (size_t)1) * sizeof(*m->number));
	if (!m->number)
		return -ENOMEM;
	return leak_lost_graph_make(&m->out->lost_graph, m->found->graph, row_number, m, m->number);
}

/* ---- text ---- */

/* Reserves memory for `more` elements at the end of an array; NULL: out of memory. */
static void *reserve(void *array, size_t *have, size_t used, size_t more, size_t size)
{
	size_t n = *have ? *have : 256;

	while (n < used + more)
		n *= 2;
	if (n > *have) {
		void *p = realloc(array, n * size);

		if (!p)
			return NULL;
		*have = n;
		return p;
	}
	return array;
}

static int text_add(struct maker *m, const char *text, uint32_t *at)
{
	struct leak_result *r = m->out;
	size_t bytes = strlen(text) + 1, begin = r->text_bytes ? r->text_bytes : 1;
	char *p = reserve(r->text, &m->text_capacity, begin, bytes, 1);

	if (!p)
		return -ENOMEM;
	r->text = p;
	p[0] = '\0'; /* offset 0 means none */
	memcpy(p + begin, text, bytes);
	*at = (uint32_t)begin;
	r->text_bytes = begin + bytes;
	return 0;
}

/* ---- holders ---- */

static void outermost_add(void *ctx, uint32_t block, uint64_t blocks, uint64_t bytes)
{
	struct maker *m = ctx;
	uint32_t row = row_number(m, block);

	if (row == LEAK_NONE)
		return;
	m->out->row[row].retained.blocks += blocks;
	m->out->row[row].retained.bytes += bytes;
}

static int holder_copy(
	struct maker *m, const struct leak_holder *from, struct leak_result_holder *to)
{
	*to = (struct leak_result_holder){ .parent = from->parent,
		.site = from->site,
		.own = { from->blocks, from->bytes },
		.all = { from->all_blocks, from->all_bytes } };
	return from->name ? text_add(m, from->name, &to->root) : 0;
}

static int holder_tree_copy(struct maker *m)
{
	struct leak_result *r = m->out;
	struct leak_holder_tree tree;
	int rc = leak_holder_tree_make(&tree, &m->holders);

	if (rc != 0)
		return rc;
	r->held = (struct leak_sum){ tree.blocks, tree.bytes };
	r->holder = calloc(tree.count + 1, sizeof(*r->holder));
	rc = r->holder ? 0 : -ENOMEM;
	for (size_t i = 0; rc == 0 && i < tree.count; i++)
		rc = holder_copy(m, &tree.node[i], &r->holder[i]);
	r->holders = rc == 0 ? tree.count : 0;
	leak_holder_tree_free(&tree);
	return rc;
}

/* The rows' types. */
static int types_make(struct maker *m)
{
	struct leak_result *r = m->out;
	struct leak_types types;
	int rc = leak_types_find(&types, m->found, m->sites);

	if (rc != 0)
		return rc;
	r->typed = (struct leak_sum){ types.blocks, types.bytes };
	for (size_t i = 0; rc == 0 && i < r->rows; i++) {
		const struct leak_type *t = &types.site[r->row[i].site];

		r->row[i].type_blocks = t->blocks;
		if (t->name)
			rc = text_add(m, t->name, &r->row[i].type);
	}
	leak_types_free(&types);
	return rc;
}

/* The only way to a cycle's other blocks is by its definite one, which so retains what it does. */
static void cycle_leader(void *ctx, uint32_t block, struct leak_cycle *of)
{
	struct maker *m = ctx;
	uint32_t number = leak_holders_number(&m->holders, block), row = row_number(m, block);
	struct leak_row *r;

	if (number == LEAK_NO_NODE || row == LEAK_NONE)
		return;
	r = &m->out->row[row];
	sum_add(&r->cyclic, m->blocks->block[block].size);
	r->cyclic_retained.blocks += m->holders.blocks[number];
	r->cyclic_retained.bytes += m->holders.bytes[number];
	of->retained_blocks += m->holders.blocks[number];
	of->retained_bytes += m->holders.bytes[number];
}

static int cycles_make(struct maker *m)
{
	int n = leak_cycles_find(m->found->graph, &m->out->cycle, cycle_leader, m);

	m->out->cycles = n > 0 ? (size_t)n : 0;
	return n < 0 ? n : 0;
}

/* Without them the rest of the result is as good. */
static int holders_make(struct maker *m, const atomic_bool *stop)
{
	uint64_t start_ns = clock_monotonic_ns();
	int rc = leak_holders_make(&m->holders, m->found, stop);

	if (rc == 0)
		rc = leak_holder_tree_sites(&m->holders, m->sites, outermost_add, m);
	if (rc == 0)
		rc = holder_tree_copy(m);
	if (rc == 0)
		rc = types_make(m);
	if (rc == 0)
		rc = cycles_make(m);
	m->out->holders_ns = clock_monotonic_ns() - start_ns;
	m->out->no_holders = rc;
	if (rc != 0)
		leak_holders_free(&m->holders);
	return rc == -ECANCELED ? rc : 0;
}

/* ---- why ---- */

/* The step of the root word that points to `block`. */
static int root_step(struct maker *m, uint32_t block, struct leak_step *out)
{
	uint64_t at = m->found->graph->root_at[block];
	char text[TEXT_MAX];

	*out = (struct leak_step){ .addr = at >> 63 ? 0 : at };
	leak_root_names_text(m->found, at, text, sizeof(text));
	return text_add(m, text, &out->root);
}

/* The blocks from `block` back to the start of its path, the nearest first. Returns how many;
 * leaves out the middle if there are more than `most`. */
static uint32_t path_of(
	const struct maker *m, uint32_t block, uint32_t *path, uint32_t most, uint32_t *left_out)
{
	const uint32_t *parent = m->trace.parent;
	uint32_t n = 0, length = 0, skip;

	for (uint32_t i = block; parent[i] != i && parent[i] != LEAK_NONE; i = parent[i])
		length++;
	*left_out = length > most ? length - most : 0;
	skip = most - most / 2; /* so many are kept before the part left out */
	for (uint32_t i = block, at = 0; parent[i] != i && parent[i] != LEAK_NONE; i = parent[i]) {
		if (at < skip || at >= skip + *left_out)
			path[n++] = parent[i];
		at++;
	}
	return n;
}

static bool is_inside(const struct maker *m, uint32_t block, uint32_t from)
{
	const struct leak_graph *g = m->found->graph;

	if (from == block)
		return g->root[block] > LEAK_TO_START + 1;
	for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++)
		if (g->edge[e] >> LEAK_TO_BITS == block &&
			(g->edge[e] & LEAK_TO_MASK) == LEAK_TO_START)
			return false;
	return true;
}

static int steps_add(struct maker *m, struct leak_shown *shown, uint32_t block)
{
	struct leak_result *r = m->out;
	uint32_t path[LEAK_SHOWN_STEPS], n, first;
	struct leak_step *step;
	int rc = 0;

	step = reserve(r->step, &m->step_capacity, r->step_count, LEAK_SHOWN_STEPS, sizeof(*step));
	if (!step)
		return -ENOMEM;
	r->step = step;
	step += r->step_count;
	n = path_of(m, block, path, LEAK_SHOWN_STEPS - 1, &shown->left_out);
	first = n > 0 ? path[n - 1] : block;
	if (m->trace.parent[first] == first && m->found->graph->class[first] != LEAK_DEFINITE)
		rc = root_step(m, first, &step[shown->steps++]);
	for (uint32_t i = n; i-- > 0;) {
		const struct leak_block *b = &m->blocks->block[path[i]];

		step[shown->steps++] =
			(struct leak_step){ .addr = b->addr, .size = b->size, .site = b->site };
	}
	shown->first_step = (uint32_t)r->step_count;
	shown->inside = shown->steps > 0 && is_inside(m, block, n > 0 ? path[0] : block);
	r->step_count += shown->steps;
	return rc;
}

static int holder_step(struct maker *m, uint32_t number, struct leak_step *out)
{
	uint32_t block = leak_holders_block(&m->holders, number);
	const struct leak_block *b = &m->blocks->block[block];

	*out = (struct leak_step){ 0 };
	if (block == LEAK_NONE)
		return text_add(m, m->holders.name[m->holders.tree.node[number]], &out->root);
	*out = (struct leak_step){ .addr = b->addr, .size = b->size, .site = b->site };
	return 0;
}

/* What every way to a block goes through. */
static int dominators_add(struct maker *m, struct leak_shown *shown, uint32_t block)
{
	const uint32_t *dominator = m->holders.tree.dominator;
	uint32_t number = leak_holders_number(&m->holders, block), length = 0, at, skip;
	struct leak_result *r = m->out;
	struct leak_step *step;
	int rc = 0;

	if (number == LEAK_NO_NODE)
		return 0;
	step = reserve(r->step, &m->step_capacity, r->step_count, LEAK_SHOWN_STEPS, sizeof(*step));
	if (!step)
		return -ENOMEM;
	r->step = step;
	shown->retained = (struct leak_sum){ m->holders.blocks[number], m->holders.bytes[number] };
	for (uint32_t i = dominator[number]; i != 0; i = dominator[i])
		length++;
	if (length > LEAK_SHOWN_STEPS)
		shown->holders_left_out = length - LEAK_SHOWN_STEPS;
	shown->first_holder = (uint32_t)r->step_count;
	shown->holder_steps = length - shown->holders_left_out;
	r->step_count += shown->holder_steps;
	/* From the block's own dominator down to the root, so from the end. */
	at = shown->holder_steps;
	skip = shown->holder_steps / 2;
	for (uint32_t i = dominator[number], k = 0; rc == 0 && i != 0; i = dominator[i], k++)
		if (k < skip || k >= skip + shown->holders_left_out)
			rc = holder_step(m, i, &r->step[shown->first_holder + --at]);
	return rc;
}

static int block_add(struct maker *m, uint32_t block)
{
	struct leak_result *r = m->out;
	const struct leak_block *b = &m->blocks->block[block];
	struct leak_shown *shown;
	int rc;

	shown = reserve(r->block, &m->block_capacity, r->block_count, 1, sizeof(*shown));
	if (!shown)
		return -ENOMEM;
	r->block = shown;
	shown += r->block_count++;
	*shown = (struct leak_shown){ .addr = b->addr,
		.size = b->size,
		.birth = b->birth,
		.holders = m->trace.holders[block],
		.lost = m->number ? m->number[block] : LEAK_NONE };
	rc = steps_add(m, shown, block);
	return rc == 0 && m->holders.graph ? dominators_add(m, shown, block) : rc;
}

static int why_make(struct maker *m)
{
	int rc = leak_pointer_path_make(&m->trace, m->found->graph);

	for (size_t i = 0; rc == 0 && i < m->out->rows; i++) {
		struct leak_row *row = &m->out->row[i];

		row->first_block = (uint32_t)m->out->block_count;
		for (uint32_t k = 0; rc == 0 && k < row->blocks; k++)
			rc = block_add(m, row->shown[k]);
	}
	return rc;
}

int leak_result_make(struct leak_result *r, const struct leak_root_context *found,
	const struct leak_result_parts *parts)
{
	struct maker m = { .out = r, .found = found, .blocks = found->graph->blocks };
	int rc = rows_make(&m);

	if (rc == 0 && parts->lost)
		rc = lost_graph_make(&m);
	if (rc == 0 && parts->holders)
		rc = holders_make(&m, parts->stop);
	if (m.holders.graph && parts->inspect)
		parts->inspect(parts->inspect_ctx, &m.holders);
	if (rc == 0 && parts->why)
		rc = why_make(&m);
	leak_pointer_path_free(&m.trace);
	leak_holders_free(&m.holders);
	free(m.index);
	free(m.number);
	return rc;
}

void leak_result_free(struct leak_result *r)
{
	free(r->row);
	free(r->block);
	free(r->step);
	free(r->text);
	free(r->holder);
	free(r->cycle);
	leak_contents_free(&r->contents);
	r->has_contents = false;
	leak_lost_graph_free(&r->lost_graph);
	r->row = NULL;
	r->block = NULL;
	r->step = NULL;
	r->text = NULL;
	r->holder = NULL;
	r->cycle = NULL;
	r->rows = r->block_count = r->step_count = r->text_bytes = r->holders = r->cycles = 0;
}
