/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program can get at without following a pointer: registers, stacks, its writable data, and
 * the mappings it made. All that is readable and writable counts, but for the memory of allocators,
 * of devices, and of ours. A block in such memory is no root: it counts as a block. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_ROOTS_H
#define SRC_LEAK_ANALYSIS_ROOTS_H

#include "src/leak/access/exit_stack.h"
#include "src/leak/analysis/graph.h"
#include "src/leak/analysis/result.h"
#include "src/leak/access/space.h"
#include "src/leak/access/stop.h"

enum leak_root {
	LEAK_ROOT_REGISTERS = 1, /* general ones */
	LEAK_ROOT_VECTORS = 2, /* and the others */
	LEAK_ROOT_STACKS = 4, /* of threads */
	LEAK_ROOT_GLOBALS = 8, /* writable data of object files */
	LEAK_ROOT_MAPS = 16, /* all other mappings */
	LEAK_ROOT_TLS = 32, /* thread-local data of all threads, with pthread's own */
	LEAK_ROOT_ALL = 63,
};

struct leak_roots {
	unsigned kinds; /* enum leak_root: those that count */
	uint64_t stack; /* read_leak_stack */
	const struct leak_exit_stack *exit; /* the process is at its last instant; or NULL */
	uint64_t first_stack; /* where the first thread's stack began, if that has ended; or 0 */
	const struct leak_thread_places
		*thread; /* leak_roots_thread of each, then one of tid 0; NULL: not known */
	unsigned devices; /* mappings that were left out */
	/* Allocators have blocks that are in no table: all of their memory outside of those that
	 * are counts, too. */
	bool unknown;
};

/* Where a thread's stack and data are; 0 if it did not stop. */
struct leak_thread_places leak_roots_thread(struct leak_space *s, const struct leak_thread *t);
/* Gives the graph the words of all roots. */
void leak_roots_scan(struct leak_roots *r, struct leak_space *s, const struct leak_stop *stop,
	struct leak_graph *g);

#endif
