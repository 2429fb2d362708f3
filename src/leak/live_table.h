/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table of a process, read before the process is stopped, so that during the stop only
 * what has changed since is read. One thread, which must not trace any process.
 */
#ifndef SRC_LEAK_LIVE_TABLE_H
#define SRC_LEAK_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/leak/analysis/blocks.h"
#include "src/read/read.h"

struct leak_live_table {
	struct read_segment *segment;
	pid_t pid;
	struct read_live_copy *frozen; /* a copy of the table; NULL: not wanted, or out of memory */
	struct read_live_changes *watch; /* the changes since; NULL: unknown */
	uint64_t *busy; /* addresses of words that are 0 once threads have left their hooks */
	size_t busies;
	bool is_read; /* leak_live_table_read */
	struct leak_range *gone; /* where blocks have changed since the table was read, */
	size_t gones, gone_capacity;
	struct leak_blocks *fresh; /* and the blocks there now */
	int rc;
	uint64_t stop_ns; /* how long the short stop took */
};

/* Prepares a copy of the table. False: out of memory. */
bool leak_live_table_freeze(struct leak_live_table *t);
/* Stops the process for a moment, if the table is large enough, to note changes from then on;
 * updates the copy. */
void leak_live_table_watch(struct leak_live_table *t);
/* While the process is stopped: updates the copy. 0 or -errno. */
int leak_live_table_take(struct leak_live_table *t);
/*
 * Without a copy: reads and finishes the blocks, if changes are noted. `patch` then updates them
 * while the process is stopped; it takes as long as there are changes. 0 or -errno.
 */
int leak_live_table_read(struct leak_live_table *t, struct leak_blocks *blocks);
int leak_live_table_patch(struct leak_live_table *t, struct leak_blocks *blocks);
/* A block of the table as leak scans keep it. */
struct leak_block leak_live_table_block(const struct read_block *b);
void leak_live_table_free(struct leak_live_table *t);

#endif
