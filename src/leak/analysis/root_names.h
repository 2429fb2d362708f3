/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names roots: a register, a thread's stack, a file's data. Any thread. */
#ifndef SRC_LEAK_ANALYSIS_ROOT_NAMES_H
#define SRC_LEAK_ANALYSIS_ROOT_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "src/leak/analysis/graph.h"
#include "src/leak/access/space.h"
#include "src/leak/access/words.h"

/* Where a thread's stack and data were, to name roots there. */
struct leak_thread_places {
	int tid;
	uint64_t stack, data; /* its stack pointer and thread pointer */
	struct leak_range tls; /* leak_tls_of */
	struct leak_range below; /* dead part of a stack whose mapping has no guard; or 0 */
	struct user_regs_struct regs; /* valid if `stack` is */
	/* The live part of the stack from `stack` on, or its beginning, as the roots had it: zeros
	 * where these did not read. NULL: it is no root, or out of memory. */
	uint64_t *words;
	size_t word_count;
};

struct leak_root_context {
	const struct leak_graph *graph; /* classified */
	const struct leak_space *space; /* its mappings name roots */
	const struct leak_thread_places *thread;
	size_t threads;
	/* Names what it can better than this room does, such as a variable. False: it cannot. NULL:
	 * there is no such. */
	bool (*name)(void *names, uint64_t at, char *out, size_t cap);
	/* The class whose vtable a first word points to. False: it is none's. May be NULL. */
	bool (*class_name)(void *names, uint64_t word, char *out, size_t cap);
	void *names;
};

/*
 * The file that has the data at `at`, and its address there as its symbol table has it. NULL: no
 * file has.
 */
const char *leak_root_names_file(const struct leak_space *space, uint64_t at, uint64_t *vaddr);
/* "register rbx", "a vector register". `at`: a register of LEAK_REGISTER, whose thread is returned.
 */
int leak_root_names_register(uint64_t at, char *out, size_t cap);
/* `at`: as in leak_graph.root_at. Addresses in a file are those of its symbol table, as nm prints
 * them. */
void leak_root_names_text(
	const struct leak_root_context *found, uint64_t at, char *out, size_t cap);

#endif
