/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the roots: the words that a program can read without following a pointer. These are
 * registers, stacks, its writable data, and mappings it made: all readable and writable memory, but
 * for that of allocators, devices, and heaptop. A block in such memory is no root; it counts as a
 * block. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_ROOTS_H
#define SRC_LEAK_ANALYSIS_ROOTS_H

#include "src/leak/access/exit_stack.h"
#include "src/leak/analysis/graph.h"
#include "src/leak/analysis/result.h"
#include "src/leak/access/space.h"
#include "src/trace/stop.h"

enum leak_root {
	LEAK_ROOT_REGISTERS = 1, /* general registers */
	LEAK_ROOT_VECTORS = 2, /* vector registers */
	LEAK_ROOT_STACKS = 4, /* of threads */
	LEAK_ROOT_GLOBALS = 8, /* writable data of object files */
	LEAK_ROOT_MAPS = 16, /* all other mappings */
	LEAK_ROOT_TLS = 32, /* thread-local data of all threads, with pthread's own */
	LEAK_ROOT_ALL = 63,
};

struct leak_roots {
	unsigned kinds; /* enum leak_root: those that count */
	uint64_t stack; /* read_exit_scan_stack */
	const struct leak_exit_stack *exit; /* of a process at its last instant; or NULL */
	uint64_t first_stack; /* where the first thread's stack began, if that thread has ended; or
				 0 */
	/* Ends with tid 0; NULL: unknown. Their stacks' words are filled in, the caller's to free.
	 */
	struct leak_thread_places *thread;
	unsigned devices; /* device mappings that were not read */
	/* Some blocks are in no table, so all memory of allocators outside known blocks counts,
	 * too. */
	bool unknown;
};

/* A thread's stack and data; 0 if it did not stop. */
struct leak_thread_places leak_roots_thread(struct leak_space *s, const struct trace_thread *t);
/* Adds the words of all roots to the graph. */
void leak_roots_scan(struct leak_roots *r, struct leak_space *s, const struct trace_stop *stop,
	struct leak_graph *g);

#endif
