/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes lines from a call tree (tree_rows.h). Walks only the open part. The tree view calls it
 * after each update of the tree, on the main thread.
 */
#include "src/model/tree_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

/* A child with at least this share of the root is opened when it is first shown. */
#define OPEN_PERMILLE 50u

struct walk {
	struct tree_rows *rows;
	struct tree *tree;
	const struct tree_rows_request *request;
	uint64_t whole, moved; /* bytes of the root, and its changes */
	uint32_t *children; /* a stack of child lists */
	size_t used, capacity;
	int rc;
};

/* ---- order -------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int order_names(const struct tree_node *a, const struct tree_node *b)
{
	const char *x = a->frame.function, *y = b->frame.function;

	if (!x != !y)
		return x ? -1 : 1;
	return x ? strcmp(x, y) : -order(a->frame.offset, b->frame.offset);
}

static int order_places(const struct tree_node *a, const struct tree_node *b)
{
	const char *x = a->frame.file, *y = b->frame.file;
	int by = !x != !y ? (x ? -1 : 1) : x ? strcmp(x, y) : 0;

	return by ? by : (a->frame.line > b->frame.line) - (a->frame.line < b->frame.line);
}

static int order_signed(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int order_column(const struct walk *w, const struct tree_node *a, const struct tree_node *b)
{
	switch (w->request->sort) {
	case TREE_ROWS_SELF:
		return order(a->self_bytes, b->self_bytes);
	case TREE_ROWS_RATE:
		return (a->rate_bytes_per_s < b->rate_bytes_per_s) -
		       (a->rate_bytes_per_s > b->rate_bytes_per_s);
	case TREE_ROWS_BLOCKS:
		return order(a->blocks, b->blocks);
	case TREE_ROWS_NAME:
		return order_names(a, b);
	case TREE_ROWS_PLACE:
		return order_places(a, b);
	case TREE_ROWS_ERROR:
		return (a->error2 < b->error2) - (a->error2 > b->error2);
	case TREE_ROWS_SINCE:
		return order_signed(a->since_bytes, b->since_bytes);
	case TREE_ROWS_ALLOC:
		return order(a->since_alloc, b->since_alloc);
	case TREE_ROWS_FREED:
		return order(a->since_freed, b->since_freed);
	case TREE_ROWS_NEW:
		return order_signed(a->since_blocks, b->since_blocks);
	case TREE_ROWS_TOTAL:
	case TREE_ROWS_PERCENT:
	case TREE_ROWS_BAR:
	case TREE_ROWS_COUNT:
		break;
	}
	return order(a->total_bytes, b->total_bytes);
}

static int order_siblings(const void *pa, const void *pb, void *ctx)
{
	const struct walk *w = ctx;
	const struct tree_node *a = &w->tree->node[*(const uint32_t *)pa];
	const struct tree_node *b = &w->tree->node[*(const uint32_t *)pb];
	int by = w->request->reverse ? -order_column(w, a, b) : order_column(w, a, b);

	/* Ranked siblings keep their order, new ones go after them. */
	if (w->request->hold && a->rank != b->rank)
		return !a->rank ? 1 : !b->rank ? -1 : a->rank < b->rank ? -1 : 1;
	if (!by)
		by = order(a->total_bytes, b->total_bytes);
	return by ? by : order(b->id, a->id);
}

/* ---- children ----------------------------------------------------------------------------- */

/* A node without live blocks gets no line, unless it had some. */
static bool node_empty(const struct tree_node *n)
{
	return n->total_bytes == 0 && n->blocks == 0 && n->moved == 0;
}

/* Whether a node has `permille` of the root's live bytes, or of its changes. */
static bool node_has(const struct walk *w, const struct tree_node *n, unsigned permille)
{
	return (double)n->total_bytes * 1000 >= (double)w->whole * permille ||
	       (w->moved > 0 && (double)n->moved * 1000 >= (double)w->moved * permille);
}

static bool node_small(const struct walk *w, const struct tree_node *n)
{
	return !(n->marks & TREE_ROWS_SHOWN) && !node_has(w, n, w->request->least_permille);
}

/* The only child of a node that holds nothing itself, or 0. */
static uint32_t node_only_child(struct walk *w, uint32_t node)
{
	struct tree_node *n = &w->tree->node[node];
	uint32_t only = 0;

	if (n->marks & TREE_ROWS_SPLIT)
		return 0;
	for (uint32_t c = n->child; c; c = w->tree->node[c].next) {
		if (node_empty(&w->tree->node[c]))
			continue;
		if (only) {
			n->marks |= TREE_ROWS_SPLIT;
			return 0;
		}
		only = c;
	}
	if (only && (n->self_bytes || n->moved != w->tree->node[only].moved)) {
		n->marks |= TREE_ROWS_SPLIT;
		return 0;
	}
	return only;
}

static bool node_has_children(const struct walk *w, uint32_t node)
{
	for (uint32_t c = w->tree->node[node].child; c; c = w->tree->node[c].next)
		if (!node_empty(&w->tree->node[c]))
			return true;
	return false;
}

static bool child_push(struct walk *w, uint32_t node)
{
	uint32_t *children = array_grow(w->children, w->used, &w->capacity, sizeof(*children));

	if (!children) {
		w->rc = -ENOMEM;
		return false;
	}
	w->children = children;
	w->children[w->used++] = node;
	return true;
}

/* ---- lines -------------------------------------------------------------------------------- */

static struct tree_row *row_add(struct walk *w)
{
	struct tree_rows *r = w->rows;
	struct tree_row *row = array_grow(r->row, r->count, &r->capacity, sizeof(*row));

	if (!row) {
		w->rc = -ENOMEM;
		return NULL;
	}
	r->row = row;
	return &r->row[r->count++];
}

static void node_decide(struct walk *w, uint32_t node)
{
	struct tree_node *n = &w->tree->node[node];

	if (!(n->marks & TREE_ROWS_DECIDED) && node_has(w, n, OPEN_PERMILLE))
		n->marks |= TREE_ROWS_OPEN;
	n->marks |= TREE_ROWS_DECIDED | TREE_ROWS_SHOWN;
}

/* Follows the chain to its end; opens the nodes on the way, in case it is split later. */
static void row_chain(struct walk *w, struct tree_row *row)
{
	uint32_t next;

	row->node = row->first;
	while (row->level && (next = node_only_child(w, row->node)) != 0) {
		w->tree->node[row->node].marks |=
			TREE_ROWS_OPEN | TREE_ROWS_DECIDED | TREE_ROWS_SHOWN;
		w->tree->node[row->node].row = (uint32_t)(w->rows->count - 1);
		row->node = next;
		row->folded++;
	}
	w->tree->node[row->node].row = (uint32_t)(w->rows->count - 1);
}

static void rows_of(struct walk *w, uint32_t first, const struct tree_row *above, bool last);

static void row_small(struct walk *w, uint32_t node, const struct tree_row *above,
	const uint32_t *children, size_t count)
{
	struct tree_row *row = row_add(w);

	if (!row)
		return;
	*row = (struct tree_row){ .first = node,
		.node = node,
		.small = (uint32_t)count,
		.level = above->level + 1,
		.last = true,
		.has_children = true,
		.guides = above->guides };
	for (size_t i = 0; i < count; i++) {
		const struct tree_node *n = &w->tree->node[children[i]];

		row->small_bytes += n->total_bytes;
		row->small_blocks += n->blocks;
		row->small_rate += n->rate_bytes_per_s;
		row->small_error2 += n->error2;
		snapshot_change_add(&row->small_since, n->since_bytes);
		snapshot_change_add(&row->small_new, n->since_blocks);
		row->small_alloc += n->since_alloc;
		row->small_freed += n->since_freed;
	}
}

/* Moves large children to the front. Returns the number of children that get lines. */
static size_t children_partition(struct walk *w, uint32_t node, uint32_t *children, size_t count)
{
	size_t large = 0;

	if (w->tree->node[node].marks & TREE_ROWS_ALL)
		return count;
	for (size_t i = 0; i < count; i++) {
		uint32_t child = children[i];

		if (node_small(w, &w->tree->node[child]))
			continue;
		memmove(&children[large + 1], &children[large], (i - large) * sizeof(*children));
		children[large++] = child;
	}
	/* A line for one small child would take the same space and show less. */
	return count - large == 1 ? count : large;
}

/* `above` is a copy: the array of lines moves as it grows. */
static void rows_below(struct walk *w, struct tree_row above)
{
	size_t base = w->used, count, large;

	for (uint32_t c = w->tree->node[above.node].child; c; c = w->tree->node[c].next)
		if (!node_empty(&w->tree->node[c]) && !child_push(w, c))
			return;
	count = w->used - base;
	if (count)
		qsort_r(w->children + base, count, sizeof(*w->children), order_siblings, w);
	large = children_partition(w, above.node, w->children + base, count);
	for (size_t i = 0; i < large && w->rc == 0; i++) {
		uint32_t child = w->children[base + i];

		w->tree->node[child].rank = (uint32_t)(i + 1);
		rows_of(w, child, &above, i + 1 == count);
	}
	if (large < count && w->rc == 0)
		row_small(w, above.node, &above, w->children + base + large, count - large);
	w->used = base;
}

static void rows_of(struct walk *w, uint32_t first, const struct tree_row *above, bool last)
{
	struct tree_row *row = row_add(w);

	if (!row)
		return;
	*row = (struct tree_row){ .first = first, .last = last };
	if (above) {
		row->level = above->level + 1;
		row->guides = above->guides;
		if (!last && row->level < 64)
			row->guides |= 1ull << row->level;
	}
	row_chain(w, row);
	node_decide(w, row->node);
	row->has_children = node_has_children(w, row->node);
	if (row->has_children && (w->tree->node[row->node].marks & TREE_ROWS_OPEN))
		rows_below(w, *row);
}

int tree_rows_make(struct tree_rows *r, struct tree *t, const struct tree_rows_request *request)
{
	struct walk w = { .rows = r, .tree = t, .request = request };

	r->count = 0;
	if (!t->count)
		return 0;
	for (uint32_t i = 0; i < t->count; i++)
		t->node[i].row = TREE_NONE;
	w.whole = t->node[request->root].total_bytes;
	w.moved = t->node[request->root].moved;
	t->node[request->root].marks |= TREE_ROWS_OPEN | TREE_ROWS_DECIDED;
	rows_of(&w, request->root, NULL, true);
	free(w.children);
	if (w.rc)
		r->count = 0;
	return w.rc;
}

void tree_rows_free(struct tree_rows *r)
{
	free(r->row);
	*r = (struct tree_rows){ 0 };
}

size_t tree_rows_find(const struct tree_rows *r, const struct tree *t, uint32_t node)
{
	while (node < t->count && t->node[node].row == TREE_NONE && node != TREE_ROOT)
		node = t->node[node].parent;
	return node < t->count && t->node[node].row < r->count ? t->node[node].row : 0;
}

void tree_rows_open_all(struct tree *t, uint32_t node, bool open)
{
	for (uint32_t i = node; i < t->count; i++) {
		if (!tree_is_below(t, i, node))
			continue;
		t->node[i].marks |= TREE_ROWS_DECIDED;
		if (open)
			t->node[i].marks |= TREE_ROWS_OPEN;
		else
			t->node[i].marks &= (unsigned char)~(TREE_ROWS_OPEN | TREE_ROWS_ALL);
	}
}

void tree_rows_forget_shown(struct tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		t->node[i].marks &= (unsigned char)~(TREE_ROWS_SHOWN | TREE_ROWS_ALL);
}
