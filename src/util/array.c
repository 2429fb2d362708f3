/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow (array.h). Any thread, on data of its own. */
#include "src/util/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_CAPACITY 64u
#define LARGE_PAGE     ((size_t)2 << 20)
#define LARGE_BYTES    (4 * LARGE_PAGE) /* below this, huge pages gain little and may waste much */

void *array_grow(void *items, size_t count, size_t *capacity, size_t each)
{
	size_t want = *capacity ? *capacity * 2 : FIRST_CAPACITY;
	void *p;

	if (count < *capacity)
		return items;
	p = *capacity > SIZE_MAX / 2 ? NULL : reallocarray(items, want, each);
	if (p)
		*capacity = want;
	return p;
}

/* calloc knows which memory is fresh from the kernel, and zero as it is. */
void *array_extend(void *items, size_t was, size_t now, size_t each)
{
	void *p = calloc(now, each);

	if (p && was)
		memcpy(p, items, was * each);
	if (p)
		free(items);
	return p;
}

void *array_large(void *items, size_t bytes)
{
	uintptr_t start = ((uintptr_t)items + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)items + bytes) & ~(LARGE_PAGE - 1);

	if (items && bytes >= LARGE_BYTES)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
	return items;
}
