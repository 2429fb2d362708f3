/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a leak scan: sums by class, a row for the blocks of each call site and class, and,
 * on request, some blocks of each row and why they are reachable. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_RESULT_H
#define SRC_LEAK_ANALYSIS_RESULT_H

#include "src/leak/analysis/classes.h"
#include "src/leak/analysis/contents.h"
#include "src/leak/analysis/cycles.h"
#include "src/leak/analysis/holders.h"
#include "src/leak/analysis/root_names.h"
#include "src/leak/analysis/lost_graph.h"
#include "src/leak/access/access_report.h"
#include "src/leak/access/space.h"

#define LEAK_APART_NS	  UINT64_C(1000000000) /* between the first two lent copies */
#define LEAK_SHOWN_BLOCKS 8u /* blocks shown of a row */
#define LEAK_SHOWN_STEPS  8u /* steps shown of a path */

struct leak_sum {
	uint64_t blocks, bytes;
};

/* The blocks of one call site and class. */
struct leak_row {
	enum leak_class class;
	uint32_t site;
	struct leak_sum sum;
	struct leak_sum indirect; /* of their cliques, if the class is definite */
	/* What they keep alive, themselves included: of those that no other one of the site holds.
	 */
	struct leak_sum retained;
	/* Of class definite: those that lead a cycle of leak_result.cycle, and what they retain. */
	struct leak_sum cyclic, cyclic_retained;
	/* The class of most of the site's blocks: offset in leak_result.text; 0: none. And how many
	 * of them have it. */
	uint32_t type;
	uint64_t type_blocks;
	uint32_t oldest; /* creation time of the oldest block: read_tick_pack */
	uint32_t shown[LEAK_SHOWN_BLOCKS]; /* the oldest blocks, while the result is made */
	uint32_t first_block, blocks; /* in leak_result.block, the oldest first */
};

/* One step of the path to a block. */
struct leak_step {
	uint64_t addr; /* the block that has the pointer, or the root's word; 0: a register */
	uint64_t size; /* of that block */
	uint32_t site;
	uint32_t root; /* offset in leak_result.text of the root's name; 0: it is a block */
};

struct leak_shown {
	uint64_t addr, size;
	uint32_t birth; /* read_tick_pack */
	uint32_t holders; /* pointers to it in blocks */
	/* The path to it, in leak_result.step: from the root on, or from the definite block that
	 * leads it. A longer path is cut in the middle. */
	uint32_t first_step, steps;
	uint32_t left_out; /* steps left out between these */
	bool inside; /* the last step's pointer is an interior one */
	struct leak_sum retained; /* what it keeps alive, itself included */
	/* What every way to it goes through, in leak_result.step: from the root on. Cut likewise.
	 */
	uint32_t first_holder, holder_steps, holders_left_out;
	uint32_t lost; /* its number in leak_result.lost_graph; LEAK_NONE: it has none */
};

/* A node of what holds the heap (holder_tree.h). */
struct leak_result_holder {
	uint32_t parent; /* an earlier one; LEAK_NONE: a root */
	uint32_t root; /* offset in leak_result.text of the root's name; 0: a call site */
	uint32_t site;
	struct leak_sum own, all; /* all: with those below it */
};

struct leak_result {
	struct leak_sum sum[LEAK_CLASSES];
	struct leak_sum heuristic[LEAK_HEURISTICS]; /* blocks not reachable without it */
	/* Those of these blocks that others of them lead to. */
	struct leak_sum heuristic_indirect[LEAK_HEURISTICS];
	struct leak_row *row; /* definite first; within a class, most bytes first */
	size_t rows;
	struct leak_shown *block; /* if requested */
	struct leak_step *step;
	char *text;
	size_t block_count, step_count, text_bytes;
	struct leak_lost_graph lost_graph; /* if requested */
	/* If requested: depth first, siblings with most bytes first. */
	struct leak_result_holder *holder;
	size_t holders;
	struct leak_sum held; /* by all roots together */
	struct leak_sum typed; /* blocks whose class is known by a vtable */
	struct leak_cycle *cycle; /* with the holders: kinds of cycles among leaks */
	size_t cycles;
	struct leak_contents contents; /* if requested */
	bool has_contents;
	int no_holders; /* why these and all `retained` are missing: -errno; 0: they are there */
	uint64_t holders_ns; /* how long they took */
	struct leak_access_report access;
	uint64_t scan_ns; /* the whole scan */
	uint64_t scanned_bytes, unread_bytes;
	unsigned devices; /* device mappings, which were not read */
	bool unknown; /* blocks that are in no table may point to others: leak_roots */
	unsigned threads, running; /* threads, and those of them that did not stop */
};

/* What a result has beside sums and rows. */
struct leak_result_parts {
	bool why; /* blocks */
	bool lost; /* which lost blocks point to which */
	bool holders;
	void (*inspect)(void *ctx, const struct leak_holders *h); /* may be NULL */
	void *inspect_ctx;
	const atomic_bool *stop; /* set: the result is no longer wanted */
};

/* 0, -ENOMEM, or -ECANCELED. Without memory for holders, the result has none. */
int leak_result_make(struct leak_result *r, const struct leak_root_context *found,
	const struct leak_result_parts *parts);
void leak_result_free(struct leak_result *r);

#endif
