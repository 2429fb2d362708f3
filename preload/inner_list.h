/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of allocators that a program may contain, by name: those that heaptop knows
 * (inner_list.txt), and those of the user's file (HEAPTOP_ALLOCATORS). At start, and under the
 * loader's lock.
 */
#ifndef PRELOAD_INNER_LIST_H
#define PRELOAD_INNER_LIST_H

#include "shm/allocator_rule.h"

struct inner_name {
	const char *line; /* its rule */
	uint32_t line_bytes;
	uint32_t hash; /* as DT_GNU_HASH */
	const char *name; /* not terminated */
	uint8_t name_bytes;
	/* malloc, operator new: there are many, of which a program calls the first in the search
	 * order. */
	bool is_plain;
};

/* Lists all names, anew where recording starts again. `file`: the user's, or NULL. Calls `wrong`
 * for each line of it that is no rule, with its number; for number 0, the file cannot be read. */
void inner_list_start(const char *file, void (*wrong)(unsigned line, const char *why));

uint32_t inner_list_count(void);
/* The plain names are those below this number. */
uint32_t inner_list_plain(void);
/* The name of number `number`; and its hash alone, which takes no memory. */
const struct inner_name *inner_list_at(uint32_t number);
uint32_t inner_list_hash(uint32_t number);
/* The name in `text`, terminated. NULL: not listed. */
const struct inner_name *inner_list_find(const char *text);

#endif
