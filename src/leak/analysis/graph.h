/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph of pointers between blocks and from roots. Pure: it takes words of memory, and knows
 * nothing of processes. All words of roots and blocks are added while the program stands still; the
 * classes follow afterwards (classes.h). One thread, but for parts.
 *
 * A word points to a block if it is aligned and its value lies in the block: at its start, or
 * inside. An interior pointer counts as one to the start where a heuristic finds that programs keep
 * their only pointer to such a block there.
 */
#ifndef SRC_LEAK_ANALYSIS_GRAPH_H
#define SRC_LEAK_ANALYSIS_GRAPH_H

#include <stdbool.h>

#include "src/leak/analysis/blocks.h"
#include "src/leak/analysis/heuristics.h"

struct leak_graph {
	struct leak_blocks *blocks;
	/* By block. */
	uint8_t *root; /* the best pointer that a root has: 0 none, LEAK_TO_* + 1 */
	uint64_t *root_at; /* where that is; of blocks without one nothing is said */
	uint8_t *class; /* once classified */
	/* The rule without which it would not be reachable; with LEAK_BEHIND: of a block that leads
	 * to it by pointers to starts. Of several ways one that has none counts, then one that has
	 * none but memcheck's. */
	uint8_t *heuristic;
	uint32_t *leader; /* of the clique of an indirect block */
	/* Edges of block i: [first[i], first[i + 1]); to: index << LEAK_TO_BITS | LEAK_TO_*. */
	uint64_t *first;
	uint32_t *edge;
	uint64_t edges;
	uint8_t *header; /* leak_heuristics_head */
	/* Pointers inside blocks that a heuristic may explain. */
	struct leak_interior *interior;
	size_t interiors, interior_capacity;
	unsigned heuristics; /* those that count: bit i for enum leak_heuristic i; all at first */
	bool failed; /* no memory: the result would be wrong */
};

#define LEAK_INDIRECTLY 0x80u

/* The low bits of an edge: LEAK_TO_START, LEAK_TO_INSIDE, or LEAK_TO_INSIDE + the heuristic. */
#define LEAK_TO_BITS	 4u
#define LEAK_TO_MASK	 ((1u << LEAK_TO_BITS) - 1)
#define LEAK_TO_START	 0u
#define LEAK_TO_INTERIOR 1u

/* A pointer inside a block. */
struct leak_interior {
	uint64_t pointer;
	uint64_t edge; /* its number; of a root: LEAK_INSIDE_ROOT, and where it is */
};
#define LEAK_INTERIOR_ROOT (UINT64_C(1) << 63)

static inline bool leak_interior_is_root(const struct leak_interior *in)
{
	return (in->edge & LEAK_INTERIOR_ROOT) != 0;
}

/* Where a root's is; of a register's, the low bits of LEAK_REGISTER. */
static inline uint64_t leak_interior_root_at(const struct leak_interior *in)
{
	return in->edge & ~LEAK_INTERIOR_ROOT;
}
/* The block that it goes to. */
uint32_t leak_graph_interior_block(const struct leak_graph *g, const struct leak_interior *in);
/* The block that has it, unless it is a root's. */
uint32_t leak_graph_interior_owner(const struct leak_graph *g, const struct leak_interior *in);
/* Whether it counts, and nothing explains it yet. */
bool leak_graph_interior_is_open(const struct leak_graph *g, const struct leak_interior *in);
/* Explains one that is open; not if that heuristic does not count. */
void leak_graph_interior_settle(
	struct leak_graph *g, const struct leak_interior *in, enum leak_heuristic found);

/* `blocks` is finished, and stays the caller's. 0 or -ENOMEM. */
int leak_graph_start(struct leak_graph *g, struct leak_blocks *blocks);
void leak_graph_free(struct leak_graph *g);
/* Where a root is that is no memory: number `index` of the words of thread `tid`'s registers. */
#define LEAK_REGISTER(tid, index)                                                                  \
	(UINT64_C(1) << 63 | (uint64_t)(uint32_t)(tid) << 16 | (uint64_t)(index) << 3)
/*
 * Words of a root, the first of which is at `at`. `bins`: glibc's malloc keeps its own words there,
 * which tell of chunks: a chunk begins with the last 8 bytes of the block before it, and that is no
 * pointer to the block.
 */
void leak_graph_root(
	struct leak_graph *g, uint64_t at, const uint64_t *words, size_t count, bool bins);
/* A block that is in use by whoever made it, whoever points to it. */
void leak_graph_root_block(struct leak_graph *g, uint32_t block);
/* The same by a rule, if that counts: whoever finds the block without it does not need it. */
void leak_graph_root_rule(struct leak_graph *g, uint32_t block, enum leak_heuristic rule);
/* A block that was not there after all: it points to nothing. */
void leak_graph_forget_block(struct leak_graph *g, uint32_t block);
/*
 * Words of blocks may be given by several threads, each of which has a store of its own. The memory
 * is cut into parts, and each part is one thread's; then all are joined, in the order of their
 * addresses, which makes the same graph whoever was faster.
 */
struct leak_store {
	uint32_t *edge;
	struct leak_interior *interior; /* edges are counted from where the part begins */
	size_t edges, edge_capacity, interiors, interior_capacity;
	bool failed;
};
struct leak_part {
	struct leak_store *store; /* whose it is; NULL: nobody's, and there is nothing in it */
	size_t edge, edges, interior, interiors; /* where they begin in the store, and how many */
	uint32_t begins; /* the first block that begins here */
	uint32_t before; /* one that reaches in from before */
	size_t before_edges; /* of that one; they come first */
};
/* For a thread that expects so many edges. */
void leak_graph_store(struct leak_store *s, size_t edges);
/* A part; none is begun in the same store before the last one is through. */
void leak_graph_part(struct leak_part *p, struct leak_store *s, uint32_t begins);
/* Words of a block: the aligned ones that are wholly in it. In the order of addresses. One block's
 * may come in several pieces, and in several parts. */
void leak_graph_scan(struct leak_graph *g, struct leak_part *p, uint32_t block,
	const uint64_t *words, size_t count);
/* The first two words of a block that begins in a part, if they could be read; src/leak/
 * heuristics.h. */
void leak_graph_header(struct leak_graph *g, uint32_t block, uint64_t first, uint64_t second,
	enum leak_word_kind kind);
/* Once. Frees what the stores hold. */
void leak_graph_join(struct leak_graph *g, struct leak_part *parts, size_t count,
	struct leak_store *stores, size_t store_count);

/* Words of memory by address, for heuristics. */
struct leak_word {
	uint64_t addr, value;
	bool ok; /* it could be read */
};
struct leak_memory {
	void *ctx;
	void (*read)(void *ctx, struct leak_word *words, size_t count);
	/* Whether a table of functions lies at `addr`. */
	bool (*is_vtable)(void *ctx, uint64_t addr);
	/* Whether code of a file lies there. */
	bool (*is_function)(void *ctx, uint64_t addr);
};
/* When all words are joined, and before classify: looks which pointers heuristics explain. */
void leak_graph_explain(struct leak_graph *g, const struct leak_memory *m);

#endif
