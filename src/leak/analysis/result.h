/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a leak scan: sums by class, a row for the blocks of each call site and class, and,
 * on request, some blocks of each row and why they are reachable. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_RESULT_H
#define SRC_LEAK_ANALYSIS_RESULT_H

#include "src/leak/analysis/classes.h"
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
	uint32_t lost; /* its number in leak_result.lost_graph; LEAK_NONE: it has none */
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
	struct leak_access_report access;
	uint64_t scan_ns; /* the whole scan */
	uint64_t scanned_bytes, unread_bytes;
	unsigned devices; /* device mappings, which were not read */
	bool unknown; /* blocks that are in no table may point to others: leak_roots */
	unsigned threads, running; /* threads, and those of them that did not stop */
};

/* Fills in sums and rows; with `why`, also blocks; with `with_lost`, also which lost blocks point
 * to which. 0 or -ENOMEM. */
int leak_result_make(
	struct leak_result *r, const struct leak_root_context *found, bool why, bool with_lost);
void leak_result_free(struct leak_result *r);

#endif
