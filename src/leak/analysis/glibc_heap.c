/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glibc's heaps and chunks (glibc_heap.h). */
#include "src/leak/analysis/glibc_heap.h"

#include "src/proc/proc.h"

#define PAGE	     PROC_PAGE_BYTES
#define ARENA_HEAD   256u /* malloc_state begins at most so far after heap_info */
#define CHUNK_MAPPED 2u /* in a chunk's size: it has a mapping of its own */
#define CHUNK_FLAGS  7u
#define CHUNK_ALIGN  16u
#define CHUNK_LEAST  32u
/* malloc splits a chunk only if the rest can be a chunk, too; memalign may leave a little more. */
#define CHUNK_SPARE 64u

bool leak_glibc_heap_at(
	struct leak_space *s, uint64_t start, uint64_t end, struct leak_glibc_heap *out)
{
	uint64_t arena, size, writable;

	if (start % LEAK_GLIBC_HEAP_BYTES != 0 || !leak_space_word(s, start, &arena) ||
		!leak_space_word(s, start + 16, &size) ||
		!leak_space_word(s, start + 24, &writable))
		return false;
	*out = (struct leak_glibc_heap){ .start = start, .end = start + size, .arena = arena };
	return arena % LEAK_GLIBC_HEAP_BYTES < ARENA_HEAD && arena % LEAK_GLIBC_HEAP_BYTES != 0 &&
	       size != 0 && size % PAGE == 0 && size <= writable &&
	       writable <= LEAK_GLIBC_HEAP_BYTES && start + size <= end;
}

bool leak_glibc_heap_has_own_mapping(struct leak_space *s, uint64_t addr, uint64_t bytes)
{
	uint64_t before, size;

	if (!leak_space_word(s, addr - 16, &before) || !leak_space_word(s, addr - 8, &size))
		return false;
	if (!(size & CHUNK_MAPPED))
		return false;
	size &= ~(uint64_t)CHUNK_FLAGS;
	return size >= bytes + 16 && (addr - 16 - before) % PAGE == 0 &&
	       (before + size) % PAGE == 0;
}

bool leak_glibc_heap_is_chunk(struct leak_space *s, uint64_t addr, uint64_t bytes)
{
	uint64_t least = (bytes + 8 + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1), size;

	if (addr % CHUNK_ALIGN != 0 || !leak_space_word(s, addr - 8, &size))
		return false;
	if (size & CHUNK_MAPPED)
		return leak_glibc_heap_has_own_mapping(s, addr, bytes);
	size &= ~(uint64_t)CHUNK_FLAGS;
	least = least < CHUNK_LEAST ? CHUNK_LEAST : least;
	return size % CHUNK_ALIGN == 0 && size >= least && size - least < CHUNK_SPARE;
}

uint64_t leak_glibc_heap_chunks_end(struct leak_space *s, uint64_t start, uint64_t end)
{
	uint64_t size;

	for (; start < end; start += size) {
		if (!leak_space_word(s, start + 8, &size))
			break;
		size &= ~(uint64_t)CHUNK_FLAGS;
		if (size < CHUNK_LEAST || size % CHUNK_ALIGN != 0 || size > end - start)
			break;
	}
	return start;
}
