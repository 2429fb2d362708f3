/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include "src/util/array.h"
#include "tests/check.h"

TEST(grows_as_it_is_filled)
{
	uint32_t *items = NULL;
	size_t room = 0, moves = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		size_t before = room;

		items = array_grow(items, i, &room, sizeof(*items));
		CHECK(items != NULL && room > i);
		moves += room != before;
		items[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		CHECK_INT(items[i], i);
	CHECK(moves < 16);
	free(items);
}

TEST(without_memory_it_stays_as_it_is)
{
	size_t room = 0, huge = SIZE_MAX / 4, over = SIZE_MAX / 2 + 1;
	char *items = array_grow(NULL, 0, &room, 1);

	items[0] = 'x';
	CHECK(!array_grow(items, huge, &huge, 16));
	CHECK_INT(huge, SIZE_MAX / 4);
	CHECK(!array_grow(items, over, &over, 1));
	CHECK_INT(over, SIZE_MAX / 2 + 1);
	CHECK_INT(items[0], 'x');
	free(items);
}

TEST(extended_by_zeros)
{
	uint32_t *items = NULL;
	size_t had = 0;

	for (size_t n = 3; n < 100000; n *= 3) {
		items = array_extend(items, had, n, sizeof(*items));
		for (size_t i = 0; i < n; i++)
			CHECK_INT(items[i], i < had ? i + 1 : 0);
		for (size_t i = 0; i < n; i++)
			items[i] = (uint32_t)i + 1;
		had = n;
	}
	CHECK(!array_extend(items, 1, SIZE_MAX / 2, sizeof(*items)));
	CHECK_INT(items[0], 1);
	free(items);
}

int main(void)
{
	RUN(grows_as_it_is_filled);
	RUN(without_memory_it_stays_as_it_is);
	RUN(extended_by_zeros);
	return check_end();
}
