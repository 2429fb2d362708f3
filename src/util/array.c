/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow (array.h). Any thread, on data of its own. */
#include "src/util/array.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_ROOM 64u

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
