/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A call tree as lines: the open nodes in order, with chains of only children in one line and small
 * children in one summary line. The figures change, but the open nodes do not: a node that was
 * shown stays until the user closes it. Pure; main thread.
 */
#ifndef SRC_MODEL_TREE_ROWS_H
#define SRC_MODEL_TREE_ROWS_H

#include "src/model/tree.h"

enum treerows_sort {
	TREEROWS_TOTAL,
	TREEROWS_PERCENT,
	TREEROWS_SELF,
	TREEROWS_RATE,
	TREEROWS_BLOCKS,
	TREEROWS_NAME,
	TREEROWS_PLACE,
	TREEROWS_BAR, /* as TREEROWS_TOTAL */
	TREEROWS_ERROR,
	TREEROWS_COUNT
};

/* In tree_node.marks. */
enum treerows_mark {
	TREEROWS_OPEN = 1, /* its children are lines */
	TREEROWS_DECIDED = 2, /* open or closed was decided, by us or by the user */
	TREEROWS_SPLIT = 4, /* ends its chain permanently */
	TREEROWS_SHOWN = 8, /* was a line, so it is not folded into the small ones */
	TREEROWS_ALL = 16, /* its small children are lines, too */
};

struct treerow {
	uint32_t first, node; /* a chain from `first` down to `node`; mostly the same */
	uint32_t small; /* not 0: summary line for this number of small children of `node` */
	uint32_t level; /* 0: the root */
	uint32_t folded; /* number of nodes in the chain before `node` */
	bool last; /* last of its siblings */
	bool has_children;
	uint64_t guides; /* bit i: the ancestor at level i has siblings below this line */
	uint64_t small_bytes, small_blocks;
	double small_rate, small_error2;
};

struct treerows_wish {
	uint32_t root; /* TREE_ROOT, or the node zoomed into */
	enum treerows_sort sort;
	bool reverse; /* reverses the natural order: numbers descending, names ascending */
	bool hold; /* keep the previous order of siblings */
	unsigned least_permille; /* share of the root's bytes below which a child is small */
};

/* Empty is all zeros. */
struct treerows {
	struct treerow *row;
	size_t count, capacity;
};

/* 0 or -ENOMEM: then there are none. Sets marks, ranks and rows of the nodes. */
int treerows_make(struct treerows *r, struct tree *t, const struct treerows_wish *request);
void treerows_free(struct treerows *r);
/* The line of this node or, if it is not shown, of the nearest shown ancestor; 0 at worst. */
size_t treerows_find(const struct treerows *r, const struct tree *t, uint32_t node);
/* Opens or closes `node` and all its descendants. */
void treerows_open_all(struct tree *t, uint32_t node, bool open);
/* Reevaluates which small children get lines, after a change of least_permille. */
void treerows_forget_shown(struct tree *t);

#endif
