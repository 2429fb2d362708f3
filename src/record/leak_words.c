/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of leak scans' payloads (leak_words.h). Main thread. */
#include "src/record/leak_words.h"

#include <string.h>

void leak_sum_put(struct bytes *b, struct snap_leak_sum sum)
{
	bytes_number(b, sum.blocks);
	bytes_number(b, sum.bytes);
}

struct snap_leak_sum leak_sum_read(struct bytes_cursor *c)
{
	struct snap_leak_sum sum = { .blocks = bytes_read(c) };

	sum.bytes = bytes_read(c);
	return sum;
}

void leak_word_put(struct bytes *b, const char *text)
{
	size_t len = text ? strnlen(text, LEAK_WORD_MAX) : 0;

	bytes_number(b, text != NULL);
	if (!text)
		return;
	bytes_number(b, len);
	if (len)
		bytes_add(b, text, len);
}

const char *leak_word_read(struct bytes_cursor *c, struct arena *arena)
{
	const char *text, *copy;
	size_t len;

	if (!bytes_read_below(c, 1))
		return NULL;
	text = bytes_read_text(c, LEAK_WORD_MAX, &len);
	copy = text ? arena_text(arena, text, len) : NULL;
	c->bad |= !copy;
	return copy;
}

void *leak_array_read(
	struct bytes_cursor *c, struct arena *arena, size_t each, size_t least, size_t *n)
{
	void *items;

	*n = bytes_read_below(c, (size_t)(c->end - c->at) / least);
	items = arena_alloc(arena, (*n + 1) * each);
	c->bad |= !items;
	return items;
}
