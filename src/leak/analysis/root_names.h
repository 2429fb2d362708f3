/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names roots: a register, a thread's stack, a file's data. Any thread. */
#ifndef SRC_LEAK_ANALYSIS_ROOT_NAMES_H
#define SRC_LEAK_ANALYSIS_ROOT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "src/leak/analysis/graph.h"
#include "src/leak/access/space.h"
#include "src/leak/access/words.h"

/* Where a thread's stack and data were, to name roots there. */
struct leak_thread_places {
	int tid;
	uint64_t stack, data; /* its stack pointer and thread pointer */
	struct leak_range tls; /* leak_tls_of */
};

struct leak_root_context {
	const struct leak_graph *graph; /* classified */
	const struct leak_space *space; /* its mappings name roots */
	const struct leak_thread_places *thread;
	size_t threads;
};

/* `at`: as in leak_graph.root_at. Addresses in a file are those of its symbol table, as nm prints
 * them. */
void leak_root_names_text(
	const struct leak_root_context *found, uint64_t at, char *out, size_t cap);

#endif
