/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address ranges, each with an owner, searched by address. Ranges may overlap. One owner, any
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

/* Adds one; skips an empty range and one at address 0 (code that the linker dropped). False: out of
 * memory. */
bool ranges_add(struct ranges *l, uint64_t lo, uint64_t hi, size_t owner);
/* Adds all ranges of `die`. Returns their number, or -1 when out of memory. */
int ranges_add_die(struct ranges *l, Dwarf_Die *die, size_t owner);
/* Call it after the last addition and before any search. */
void ranges_sort(struct ranges *l);
/*
 * Iterates over the ranges that cover `vaddr`, the one that begins last first, so that the
 * innermost of nested ranges comes first. `*at` is SIZE_MAX before the first call. NULL: no more.
 */
const struct range *ranges_next(const struct ranges *l, uint64_t vaddr, size_t *at);
void ranges_free(struct ranges *l);

#endif
