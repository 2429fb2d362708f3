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

/* A root's word that points to a block. */
struct leak_root_word {
	uint64_t at; /* as in leak_graph.root_at */
	uint32_t block;
	bool start; /* to its start */
};

enum leak_root_words {
	LEAK_ROOT_WORDS_UNKEPT, /* all at first */
	LEAK_ROOT_WORDS_KEPT, /* leak_graph_keep */
	LEAK_ROOT_WORDS_LOST, /* too many of them, or out of memory */
};

#define LEAK_ROOT_WORDS_MAX (4u << 20) /* 64 MB; programs have some thousands */

struct leak_graph {
	struct leak_blocks *blocks;
	/* Per block. */
	uint8_t *root; /* the best pointer from a root: 0 none, LEAK_TO_* + 1 */
	uint8_t *kept; /* 1: it is reachable whatever points to it */
	uint64_t *root_at; /* where that pointer is; undefined without one */
	uint8_t *class; /* enum leak_class, once classified */
	/* The heuristic without which the block would not be reachable. With LEAK_INDIRECTLY: the
	 * heuristic of a block that leads to it by pointers to starts. Among several paths,
	 * one without a heuristic counts, then one with memcheck's only. */
	uint8_t *heuristic;
	uint32_t *leader; /* the definite block that leads an indirect one */
	/* The edges of block i: [first[i], first[i + 1]); to: index << LEAK_TO_BITS | LEAK_TO_*. */
	uint64_t *first;
	uint32_t *edge;
	uint64_t edges;
	uint8_t *header; /* leak_heuristics_header */
	/* Per block, with kept root words: its first word, if that points into a file's mapping, as
	 * to a vtable; or else 0. NULL: they are not kept. */
	uint64_t *first_word;
	/* Interior pointers, which a heuristic may explain. */
	struct leak_interior *interior;
	size_t interiors, interior_capacity;
	/* All pointers from roots, if they are kept. */
	struct leak_root_word *root_word;
	size_t root_words, root_word_capacity;
	enum leak_root_words root_words_state;
	unsigned heuristics; /* enabled: bit i for enum leak_heuristic i; all at first */
	bool tails; /* blocks may be used beyond the size that was asked for */
	bool failed; /* out of memory: the result would be wrong */
};

/* Keeps what holders.h and types.h need. After leak_graph_start. Without memory, less is kept. */
void leak_graph_keep(struct leak_graph *g);

#define LEAK_INDIRECTLY 0x80u

/* The low bits of an edge: LEAK_TO_START, LEAK_TO_INTERIOR, or LEAK_TO_INTERIOR + the heuristic. */
#define LEAK_TO_BITS	 4u
#define LEAK_TO_MASK	 ((1u << LEAK_TO_BITS) - 1)
#define LEAK_TO_START	 0u
#define LEAK_TO_INTERIOR 1u

/* An interior pointer. */
struct leak_interior {
	uint64_t pointer;
	uint64_t edge; /* its edge's number; from a root: LEAK_INTERIOR_ROOT, and where */
};
#define LEAK_INTERIOR_ROOT (UINT64_C(1) << 63)

static inline bool leak_interior_is_root(const struct leak_interior *in)
{
	return (in->edge & LEAK_INTERIOR_ROOT) != 0;
}

/* The root's address; for a register, the low bits of LEAK_REGISTER. */
static inline uint64_t leak_interior_root_at(const struct leak_interior *in)
{
	return in->edge & ~LEAK_INTERIOR_ROOT;
}
/* The block that it points into. */
uint32_t leak_graph_interior_block(const struct leak_graph *g, const struct leak_interior *in);
/* The block that contains it. Not for a root's. */
uint32_t leak_graph_interior_owner(const struct leak_graph *g, const struct leak_interior *in);
/* Whether it matters, and nothing explains it yet. */
bool leak_graph_interior_is_open(const struct leak_graph *g, const struct leak_interior *in);
/* Explains an open one, if that heuristic is enabled. */
void leak_graph_interior_settle(
	struct leak_graph *g, const struct leak_interior *in, enum leak_heuristic found);

/* `blocks` is finished (blocks.h), and stays the caller's. 0 or -ENOMEM. */
int leak_graph_start(struct leak_graph *g, struct leak_blocks *blocks);
void leak_graph_free(struct leak_graph *g);
/* The address of a root in a register: word `index` of thread `tid`'s registers. */
#define LEAK_REGISTER(tid, index)                                                                  \
	(UINT64_C(1) << 63 | (uint64_t)(uint32_t)(tid) << 16 | (uint64_t)(index) << 3)
/*
 * Adds words of a root; the first lies at `at`. `bins`: glibc's malloc keeps its own pointers to
 * chunks there. A chunk begins in the last 8 bytes of the block before it, and such a word is no
 * pointer to that block.
 */
void leak_graph_root(
	struct leak_graph *g, uint64_t at, const uint64_t *words, size_t count, bool bins);
/* Marks a block as reachable, whatever points to it. */
void leak_graph_root_block(struct leak_graph *g, uint32_t block);
/* The same by a heuristic, if it is enabled and the block is not reachable without it. */
void leak_graph_root_rule(struct leak_graph *g, uint32_t block, enum leak_heuristic rule);
/* A block that did not exist after all: drops its edges. */
void leak_graph_forget_block(struct leak_graph *g, uint32_t block);
/*
 * Several threads may add words of blocks. Each has a store of its own. Memory is cut into parts,
 * and each part belongs to one thread. Joining them in the order of addresses makes the same graph
 * whichever thread was faster.
 */
struct leak_store {
	uint32_t *edge;
	struct leak_interior *interior; /* edges count from the beginning of the part */
	size_t edges, edge_capacity, interiors, interior_capacity;
	bool failed;
};
struct leak_part {
	struct leak_store *store; /* its owner; NULL: the part is empty */
	size_t edge, edges, interior, interiors; /* begins and counts in the store */
	uint32_t begins; /* the first block that begins in the part */
	uint32_t before; /* a block that begins before and reaches into the part */
	size_t before_edges; /* its edges; they come first */
};
/* Prepares a store for a thread that expects so many edges. */
void leak_graph_store(struct leak_store *s, size_t edges);
/* Begins a part, after the last one in the same store is complete. */
void leak_graph_part(struct leak_part *p, struct leak_store *s, uint32_t begins);
/* Adds words of a block: aligned ones that lie wholly in it, by ascending address. A block's words
 * may come in several pieces and several parts. */
void leak_graph_scan(struct leak_graph *g, struct leak_part *p, uint32_t block,
	const uint64_t *words, size_t count);
/* The first two words of a block that begins in a part, if they could be read (heuristics.h). */
void leak_graph_header(struct leak_graph *g, uint32_t block, uint64_t first, uint64_t second,
	enum leak_word_kind kind);
/* Joins all parts, once. Frees what the stores hold. */
void leak_graph_join(struct leak_graph *g, struct leak_part *parts, size_t count,
	struct leak_store *stores, size_t store_count);

/* Access to single words of memory, for heuristics (word_reader.h). */
struct leak_word {
	uint64_t addr, value;
	bool ok; /* it could be read */
};
struct leak_memory {
	void *ctx;
	void (*read)(void *ctx, struct leak_word *words, size_t count);
	/* Whether a vtable lies at `addr`. */
	bool (*is_vtable)(void *ctx, uint64_t addr);
	/* Whether a file's code lies at `addr`. */
	bool (*is_function)(void *ctx, uint64_t addr);
};
/* After the parts are joined: finds which interior pointers memcheck's heuristics explain. */
void leak_graph_explain(struct leak_graph *g, const struct leak_memory *m);

#endif
