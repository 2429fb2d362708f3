/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed all at once (arena.h). */
#include "src/record/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"

/* Each chunk is twice the one before: a recording of a build has thousands of arenas, and most hold
 * a few hundred bytes. */
#define CHUNK_LEAST ((size_t)1 << 10)
#define CHUNK_MOST  ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *before;
	_Alignas(max_align_t) char data[];
};

static size_t next_room(const struct arena *a)
{
	size_t room = a->room < CHUNK_MOST / 2 ? a->room * 2 : CHUNK_MOST;

	return room > CHUNK_LEAST ? room : CHUNK_LEAST;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	size_t room = next_room(a);
	struct arena_chunk *chunk;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
	if (room < bytes)
		room = bytes;
	if (!a->chunk || a->room - a->used < bytes) {
		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->before = a->chunk;
		a->chunk = chunk;
		a->room = room;
		a->used = 0;
	}
	a->used += bytes;
	return a->chunk->data + a->used - bytes;
}

const char *arena_text(struct arena *a, const char *text, size_t len)
{
	char *clean = text_clean_copy(text, len), *copy;
	size_t bytes;

	if (!clean)
		return NULL;
	if (!*clean) {
		free(clean);
		return ""; /* a file has each of these in one byte */
	}
	bytes = strlen(clean) + 1;
	copy = arena_alloc(a, bytes);
	if (copy)
		memcpy(copy, clean, bytes);
	free(clean);
	return copy;
}

void arena_free(struct arena *a)
{
	while (a->chunk) {
		struct arena_chunk *before = a->chunk->before;

		free(a->chunk);
		a->chunk = before;
	}
	a->used = a->room = 0;
}
