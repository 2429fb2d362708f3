/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of roots as a programmer knows them: variables with file and line, thread-local ones, the
 * function in whose frame a stack's word lies; and classes of C++ by the addresses of their
 * vtables. Reads object files and debug information, once the process runs again. One thread.
 */
#ifndef SRC_LEAK_NAMES_NAMES_H
#define SRC_LEAK_NAMES_NAMES_H

#include <stdatomic.h>

#include "src/leak/analysis/root_names.h"

struct leak_names;
struct leak_object_store;

#define LEAK_NAMES_STACK_BYTES ((size_t)48 << 20) /* enough for all names; address space only */

/* What `found` points to must outlive it. `store`: where object files are kept for the next scan;
 * may be NULL. *stop ends long reading. `stack_bytes`: of the calling thread; with a small stack,
 * long names stay mangled. NULL: out of memory. */
struct leak_names *leak_names_new(const struct leak_root_context *found,
	struct leak_object_store *store, const atomic_bool *stop, size_t stack_bytes);
void leak_names_free(struct leak_names *n);
/*
 * struct leak_root_context's name. "quotes (cache.cc:22)", "count in fill() (cache.c:30)",
 * "environ (data of libc.so.6)"; "thread-local list of thread 4211 (worker) (work.c:12)"; "stack of
 * thread 4211 (worker), in parse_line()"; "register rbx of the first thread, in poll(), called
 * from serve()".
 */
bool leak_names_text(void *names, uint64_t at, char *out, size_t cap);
/* Its class_name: "Session (make_shared)". */
bool leak_names_class(void *names, uint64_t word, char *out, size_t cap);

#endif
