/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hooks, by the names of the functions that they replace: when a viewer attaches, the entries
 * of those functions are patched to jump to them.
 */
#ifndef PRELOAD_HOOK_TABLE_H
#define PRELOAD_HOOK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct hook_system {
	const char *symbol;
	const void *hook;
};

/* The hook of malloc, free and the operators; NULL: there is none for that name of `bytes` bytes,
 * or none that does what is to be done where its callers are patched functions, too. */
const void *hook_table_find(const char *name, size_t bytes);

/* Functions that are no allocator's: processes and mappings. */
extern const struct hook_system hook_table_system[] __attribute__((visibility("hidden")));
extern const unsigned hook_table_systems __attribute__((visibility("hidden")));

#endif
