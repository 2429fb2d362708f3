/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow (array.h). Any thread, on data of its own. */
#include "src/util/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_ROOM  64u
#define LARGE_PAGE  ((size_t)2 << 20)
#define LARGE_BYTES (4 * LARGE_PAGE) /* of less, little is won, and much of it may be lost */

void *array_grow(void *items, size_t count, size_t *room, size_t each)
{
	size_t want = *room ? *room * 2 : FIRST_ROOM;
	void *p;

	if (count < *room)
		return items;
	p = *room > SIZE_MAX / 2 ? NULL : reallocarray(items, want, each);
	if (p)
		*room = want;
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
