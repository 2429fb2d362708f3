/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binary search in an array sorted by a 64-bit number in its items. Any thread; no errors. */
#ifndef SRC_UTIL_SORTED_H
#define SRC_UTIL_SORTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sorted {
	const void *items; /* may be NULL if count is 0 */
	size_t count, each, at; /* `at`: offset of the number in an item of `each` bytes */
};

#define SORTED_BY(items, count, member)                                                            \
	((struct sorted){                                                                          \
		(items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member) })

/* Number of items below `key`, which is the index of the first item that is not. */
static inline size_t sorted_before(struct sorted s, uint64_t key)
{
	size_t low = 0, high = s.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t number;

		memcpy(&number, (const char *)s.items + middle * s.each + s.at, sizeof(number));
		if (number < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Number of items not above `key`. */
static inline size_t sorted_through(struct sorted s, uint64_t key)
{
	return key == UINT64_MAX ? s.count : sorted_before(s, key + 1);
}

#endif
