/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow as they are filled. */
#ifndef SRC_UTIL_ARRAY_H
#define SRC_UTIL_ARRAY_H

#include <stddef.h>

/*
 * Makes sure that one more element of `each` bytes fits after the `count` existing ones. Returns
 * the array, which may have moved and which the caller frees; updates `*capacity`. NULL when out of
 * memory: `items` is unchanged.
 */
void *array_grow(void *items, size_t count, size_t *capacity, size_t each);
/*
 * An array of `now` elements: the first `was` are those of `items`, which is freed, the others are
 * zeros and take no memory until they are written. The caller frees it. NULL when out of memory:
 * `items` is unchanged.
 */
void *array_extend(void *items, size_t was, size_t now, size_t each);
/* Asks for huge pages for a new large array that will be filled: fewer faults and TLB misses.
 * Returns `items`, which may be NULL. */
void *array_large(void *items, size_t bytes);

#endif
