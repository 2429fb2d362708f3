/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow as they are filled. */
#ifndef SRC_UTIL_ARRAY_H
#define SRC_UTIL_ARRAY_H

#include <stddef.h>

/*
 * Room for one more element of `each` bytes behind the `count` that are there: the array, which is
 * the caller's to free and may have moved, `*room` updated. NULL without memory: `items` is as it
 * was.
 */
void *array_grow(void *items, size_t count, size_t *room, size_t each);
/* Says of a fresh array that all of it will be used: a large one had better be in large pages, with
 * fewer faults and misses. Returns `items`, which may be NULL. */
void *array_large(void *items, size_t bytes);

#endif
