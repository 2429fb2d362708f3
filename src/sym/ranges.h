/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address ranges with an owner each, to be searched by address. Ranges may overlap. One owner, any
 * thread.
 */
#ifndef SRC_SYM_RANGES_H
#define SRC_SYM_RANGES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t lo, hi;
	uint32_t owner;
};

struct ranges {
	struct range *items;
	size_t count, cap;
};

/* Adds one; an empty one, or one at address 0 (code the linker dropped), is left out. False: no
 * memory. */
bool ranges_add(struct ranges *l, uint64_t lo, uint64_t hi, size_t owner);
/* Adds all that `die` has. Returns how many, or -1 without memory. */
int ranges_add_die(struct ranges *l, Dwarf_Die *die, size_t owner);
/* To be called after the last was added and before any search. */
void ranges_sort(struct ranges *l);
/*
 * Iterates over the ranges around `vaddr`, the one that begins last first, so that of nested ones
 * the innermost comes first. `*at` is SIZE_MAX before the first call. NULL: no more.
 */
const struct range *ranges_next(const struct ranges *l, uint64_t vaddr, size_t *at);
void ranges_free(struct ranges *l);

#endif
