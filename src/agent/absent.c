/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replaces modules that the small agent lacks: symbols (the roots of its leak scans get the plain
 * names that src/leak/analysis makes, and blocks no classes), stacks of programs at their end,
 * which it never scans, and names of users. Any thread.
 */
#include <stddef.h>
#include <stdio.h>

#include "src/leak/access/exit_stack.h"
#include "src/leak/names/names.h"
#include "src/target/user.h"

void leak_exit_stack_find(struct leak_exit_stack *e, struct leak_space *space, pid_t tid)
{
	(void)space;
	(void)tid;
	e->tid = 0;
}

void user_name(uid_t uid, char *out, size_t cap)
{
	snprintf(out, cap, "%u", (unsigned)uid);
}

struct leak_names *leak_names_new(const struct leak_root_context *found,
	struct leak_object_store *store, const atomic_bool *stop, size_t stack_bytes)
{
	(void)found;
	(void)store;
	(void)stop;
	(void)stack_bytes;
	return NULL;
}

void leak_names_free(struct leak_names *n)
{
	(void)n;
}

bool leak_names_text(void *names, uint64_t at, char *out, size_t cap)
{
	(void)names;
	(void)at;
	(void)cap;
	*out = 0;
	return false;
}

bool leak_names_class(void *names, uint64_t word, char *out, size_t cap)
{
	(void)names;
	(void)word;
	(void)cap;
	*out = 0;
	return false;
}
