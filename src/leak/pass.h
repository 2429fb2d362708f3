/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass of a leak scan: reads a process's live table and its memory at one instant, into a graph
 * of pointers. A scan (scan.c) makes several passes where one alone may be wrong. One thread.
 */
#ifndef SRC_LEAK_PASS_H
#define SRC_LEAK_PASS_H

#include "src/leak/access/access.h"
#include "src/leak/analysis/result.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/live_table.h"
#include "src/leak/scan_options.h"

/* All 0 at first, but for request, out, and access: its request, and space.pagemap -1. */
struct leak_pass {
	const struct leak_scan_options *request;
	struct leak_result *out;
	struct leak_access access;
	struct leak_live_table table; /* the live table, read as far as it can be before the stop */
	struct leak_blocks blocks;
	struct leak_blocks unsure; /* seen, but perhaps not live when the copy was made */
	bool partial; /* not all blocks from before the recording are known */
	uint64_t first_tick; /* blocks created then or later are unsure; 0: none */
	struct leak_graph graph;
	struct leak_thread_places *thread; /* where the threads' stacks and data were */
	size_t threads;
	int rc;
};

/* The entry of a thread that ends afterwards, since it stops the process (stop.h). `ctx`: a struct
 * leak_pass, whose rc and message hold the outcome. Returns NULL. */
void *leak_pass_read(void *ctx);

#endif
