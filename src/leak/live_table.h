/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table of a process that is to be stopped, had ready before: what it takes while the
 * process stands still is only what has changed meanwhile. One thread; none of it on one that
 * traces somebody.
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
	struct read_frozen *frozen; /* NULL: none was wanted, or there is no memory for it */
	struct read_watch *watch; /* NULL: what has changed is not known */
	uint64_t *busy; /* words that are 0 once threads have left their hooks */
	size_t busies;
	bool is_read; /* leak_live_table_read */
	struct leak_range *gone; /* where blocks have changed since, */
	size_t gones, gone_capacity;
	struct leak_blocks *fresh; /* and what there is now */
	int rc;
	uint64_t stop_ns; /* how long the process stood still for it */
};

/* Makes a copy of it. False: out of memory. */
bool leak_live_table_freeze(struct leak_live_table *t);
/* Stops the process for a moment, if the table is large enough; brings the copy up to date. */
void leak_live_table_watch(struct leak_live_table *t);
/* While the process stands still: brings the copy up to date. 0 or -errno. */
int leak_live_table_take(struct leak_live_table *t);
/*
 * Without a copy: reads and finishes the blocks, if it will be known what of them has changed. Then
 * while the process stands still `patch` brings them up to date, which takes the less the less that
 * is. 0 or -errno.
 */
int leak_live_table_read(struct leak_live_table *t, struct leak_blocks *blocks);
int leak_live_table_patch(struct leak_live_table *t, struct leak_blocks *blocks);
/* What leak scans keep of it. */
struct leak_block leak_live_table_block(const struct read_block *b);
void leak_live_table_free(struct leak_live_table *t);

#endif
