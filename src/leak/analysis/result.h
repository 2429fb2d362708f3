/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a leak scan found: sums by class, a row for the blocks of each call site and class, and, if
 * they are wished for, some blocks of each row and why they are alive. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_RESULT_H
#define SRC_LEAK_ANALYSIS_RESULT_H

#include "src/leak/analysis/classes.h"
#include "src/leak/analysis/root_names.h"
#include "src/leak/analysis/lost_graph.h"
#include "src/leak/access/access_report.h"
#include "src/leak/access/space.h"

#define LEAK_APART_NS	  UINT64_C(1000000000) /* between the first two of these */
#define LEAK_SHOWN_BLOCKS 8u /* of a row */
#define LEAK_SHOWN_STEPS  8u /* of a way */

struct leak_sum {
	uint64_t blocks, bytes;
};

/* The blocks of one call site that are of one class. */
struct leak_row {
	enum leak_class class;
	uint32_t site;
	struct leak_sum sum;
	struct leak_sum indirect; /* of their cliques, if definite */
	uint32_t oldest; /* birth of the oldest, read_birth */
	uint32_t shown[LEAK_SHOWN_BLOCKS]; /* the oldest ones, while the result is made */
	uint32_t first_block, blocks; /* of leak_result.block, the oldest first */
};

/* What points to a block, or to what points to it. */
struct leak_step {
	uint64_t addr; /* of a block that points; of a root's word; 0: a register */
	uint64_t size; /* of that block */
	uint32_t site;
	uint32_t root; /* where leak_result.text tells what root it is; 0: it is a block */
};

struct leak_shown {
	uint64_t addr, size;
	uint32_t birth; /* read_birth */
	uint32_t holders; /* pointers to it in blocks */
	/* The way to it: of leak_result.step, from the root on, or from the block that it was lost
	 * with; where that is longer, its beginning and its end. */
	uint32_t first_step, steps;
	uint32_t left_out; /* steps between them */
	bool inside; /* the last step points inside it */
	uint32_t lost; /* its number in leak_result.behind; LEAK_NONE: it has none */
};

struct leak_result {
	struct leak_sum sum[LEAK_CLASSES];
	struct leak_sum heuristic[LEAK_HEURISTICS]; /* not reachable without it */
	struct leak_sum
		heuristic_indirect[LEAK_HEURISTICS]; /* of these: what it leads to further on */
	struct leak_row *row; /* definite first; in a class, most bytes first */
	size_t rows;
	struct leak_shown *block; /* if they were wished for */
	struct leak_step *step;
	char *text;
	size_t block_count, step_count, text_bytes;
	struct leak_lost_graph lost_graph; /* if that was wished for */
	struct leak_access_report access;
	uint64_t scan_ns; /* all in all */
	uint64_t scanned_bytes, unread_bytes;
	unsigned devices; /* mappings not read */
	bool unknown; /* blocks that are in no table may point to others: leak_roots */
	unsigned threads, running; /* of them, did not stop */
};

/* Fills in sums and rows; with `why`, blocks, too, and with `behind`, what they point to. 0 or
 * -ENOMEM. */
int leak_result_make(
	struct leak_result *r, const struct leak_root_context *found, bool why, bool with_lost);
void leak_result_free(struct leak_result *r);

#endif
