/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions of allocators inside the program, in the segment: their names, and whether they are
 * recorded. Written by one thread at a time: at start, or under the loader's lock.
 */
#ifndef SHM_PATCHED_H
#define SHM_PATCHED_H

#include "shm/segment_types.h"

struct patched_info {
	const char *name;
	uint32_t name_bytes;
	uint32_t module; /* as module_intern */
	uint32_t function; /* 0: it returns no blocks. HT_FN_NAMED: its own name */
	const char *reason; /* NULL: recorded */
};

/* Adds a function, or changes the state of an earlier one with this name from the same module's
 * file. Returns its number; 0: the table is full. */
uint32_t patched_add(const struct segment *s, const struct patched_info *info);
/* It is not recorded any more: why, or NULL: its module is unloaded. */
void patched_end(const struct segment *s, uint32_t number, const char *reason);
/* The function number of its blocks: one for all functions of its name. */
uint32_t patched_function(const struct segment *s, uint32_t number);

/* Copies the functions of another segment into a fresh one, under the same numbers. After
 * module_inherit, which copies the strings that it needs. 0, or -ENOMEM. */
int patched_inherit(const struct segment *s, const struct segment *from);

#endif
