/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A call tree as lines: the open nodes in order, with chains of only children in one line and small
 * children in one summary line. The figures change, but the open nodes do not: a node that was
 * shown stays until the user closes it. Pure; main thread.
 */
#ifndef SRC_MODEL_TREE_ROWS_H
#define SRC_MODEL_TREE_ROWS_H

#include "src/model/tree.h"

enum tree_rows_sort {
	TREE_ROWS_TOTAL,
	TREE_ROWS_PERCENT,
	TREE_ROWS_SELF,
	TREE_ROWS_RATE,
	TREE_ROWS_BLOCKS,
	TREE_ROWS_NAME,
	TREE_ROWS_PLACE,
	TREE_ROWS_BAR, /* as TREE_ROWS_TOTAL */
	TREE_ROWS_ERROR,
	TREE_ROWS_SINCE,
	TREE_ROWS_ALLOC,
	TREE_ROWS_FREED,
	TREE_ROWS_NEW,
	TREE_ROWS_COUNT
};

/* In tree_node.marks. */
enum tree_rows_mark {
	TREE_ROWS_OPEN = 1, /* its children are lines */
	TREE_ROWS_DECIDED = 2, /* open or closed was decided, by us or by the user */
	TREE_ROWS_SPLIT = 4, /* ends its chain permanently */
	TREE_ROWS_SHOWN = 8, /* was a line, so it is not folded into the small ones */
	TREE_ROWS_ALL = 16, /* its small children are lines, too */
};

struct tree_row {
	uint32_t first, node; /* a chain from `first` down to `node`; mostly the same */
	uint32_t small; /* not 0: summary line for this number of small children of `node` */
	uint32_t level; /* 0: the root */
	uint32_t folded; /* number of nodes in the chain before `node` */
	bool last; /* last of its siblings */
	bool has_children;
	uint64_t guides; /* bit i: the ancestor at level i has siblings below this line */
	uint64_t small_bytes, small_blocks;
	double small_rate, small_error2;
	int64_t small_since, small_new;
	uint64_t small_alloc, small_freed;
};

struct tree_rows_request {
	uint32_t root; /* TREE_ROOT, or the node zoomed into */
	enum tree_rows_sort sort;
	bool reverse; /* reverses the natural order: numbers descending, names ascending */
	bool hold; /* keep the previous order of siblings */
	/* A child is small below this share of the root's live bytes and, if something changed
	 * since a mark, in a range or in a diff, of its changes. */
	unsigned least_permille;
};

/* Empty is all zeros. */
struct tree_rows {
	struct tree_row *row;
	size_t count, capacity;
};

/* 0 or -ENOMEM: then there are none. Sets marks, ranks and rows of the nodes. */
int tree_rows_make(struct tree_rows *r, struct tree *t, const struct tree_rows_request *request);
void tree_rows_free(struct tree_rows *r);
/* The line of this node or, if it is not shown, of the nearest shown ancestor; 0 at worst. */
size_t tree_rows_find(const struct tree_rows *r, const struct tree *t, uint32_t node);
/* Opens or closes `node` and all its descendants. */
void tree_rows_open_all(struct tree *t, uint32_t node, bool open);
/* Reevaluates which small children get lines, after a change of least_permille. */
void tree_rows_forget_shown(struct tree *t);

#endif
