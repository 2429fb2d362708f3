/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan of a running process, from outside: stop it, read its live table and its memory, let
 * it go on, and then find out what nothing points to. Main thread; the work is done by a thread of
 * its own, which the call waits for (stop.h tells why).
 */
#ifndef SRC_LEAK_SCAN_H
#define SRC_LEAK_SCAN_H

#include "src/leak/graph.h"
#include "src/leak/roots.h"
#include "src/read/read.h"

struct leak_sum {
	uint64_t blocks, bytes;
};

/* The blocks of one call site that are of one class. */
struct leak_row {
	enum leak_class class;
	uint32_t site;
	struct leak_sum sum;
	struct leak_sum indirect; /* of their cliques, if definite */
	uint32_t oldest; /* birth of the oldest, LEAK_BIRTH_TICKS */
};

struct leak_result {
	struct leak_sum sum[LEAK_CLASSES];
	struct leak_sum heuristic[LEAK_HEURISTICS]; /* reachable by one only */
	struct leak_row *row; /* definite first; in a class, most bytes first */
	size_t rows;
	uint64_t stop_ns; /* the process stood still */
	uint64_t scan_ns; /* all in all */
	uint64_t scanned_bytes, unread_bytes;
	unsigned devices; /* mappings not read */
	unsigned threads, running; /* of them, did not stop */
	unsigned busy; /* threads that were inside realloc whenever they were looked at */
};

struct leak_wish {
	pid_t pid; /* as we see it */
	unsigned roots; /* enum leak_root */
};

/* 0, or -errno with one line in `message` (LEAK_MESSAGE_MAX) that says why not. */
int leak_scan(struct read_segment *segment, const struct leak_wish *wish, struct leak_result *out,
	char *message);
void leak_result_free(struct leak_result *r);

#endif
