/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding the next allocator, and the bootstrap arena. Runs on whichever thread allocates first,
 * possibly before any constructor and, from an IFUNC resolver, before this library is relocated.
 */
#include "preload/next_allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include "preload/bulk.h"
#include "preload/symbols.h"
#include "shm/atomic.h"
#include "shm/kernel.h"

struct next next;
struct next_code next_code;
struct next_code next_inside[NEXT_INSIDE];
struct next_code next_malloc_code;
uint8_t next_mode;
BULK char next_arena[NEXT_ARENA_BYTES] __attribute__((aligned(64)));

/* Relative relocation: another address until the loader has relocated us (linkers leave NULL there,
 * or the address in the file). volatile: the compiler knows the final value. */
static const void *volatile self_relocated = next_arena;

static uint32_t arena_used;
static uint32_t finding;

#define ARENA_HEADER 16u /* in front of each block: its size */

void *next_arena_alloc(size_t size, size_t align)
{
	uint32_t used = ht_load_relaxed_32(&arena_used), start, end;

	if (align < ARENA_HEADER)
		align = ARENA_HEADER;
	if (size > NEXT_ARENA_BYTES || align > NEXT_ARENA_BYTES / 2)
		return NULL;
	do {
		start = (uint32_t)((used + ARENA_HEADER + align - 1) & ~(align - 1));
		end = start + (uint32_t)((size + 15) & ~(size_t)15);
		if (end > NEXT_ARENA_BYTES)
			return NULL;
	} while (!ht_cas_relaxed_32(&arena_used, &used, end));
	*(size_t *)(void *)(next_arena + start - ARENA_HEADER) = size;
	return next_arena + start;
}

void next_arena_undump(void)
{
	const uintptr_t page = kernel_page_bytes();
	uintptr_t start = (uintptr_t)next_arena + ht_load_relaxed_32(&arena_used);
	uintptr_t end = ((uintptr_t)next_arena + NEXT_ARENA_BYTES) & ~(page - 1);

	start = (start + page - 1) & ~(page - 1);
	if (start < end)
		madvise((void *)start, end - start, MADV_DONTDUMP);
}

size_t next_arena_size(const void *p)
{
	return *(const size_t *)(const void *)((const char *)p - ARENA_HEADER);
}

/* volatile: else the compiler makes it memcpy, which the loader may not have bound yet. */
void next_arena_copy(void *to, const void *p, size_t size)
{
	size_t old = next_arena_size(p);
	const volatile char *from = p;

	for (size_t i = 0; i < old && i < size; i++)
		((char *)to)[i] = from[i];
}

struct wanted {
	const char *symbol;
	void **where;
};

static void find_all(void)
{
	const struct wanted wanted[] = {
		{ "malloc", (void **)&next.malloc },
		{ "calloc", (void **)&next.calloc },
		{ "realloc", (void **)&next.realloc },
		{ "free", (void **)&next.free },
		{ "posix_memalign", (void **)&next.posix_memalign },
		{ "aligned_alloc", (void **)&next.aligned_alloc },
		{ "memalign", (void **)&next.memalign },
		{ "reallocarray", (void **)&next.reallocarray },
		{ "valloc", (void **)&next.valloc },
		{ "pvalloc", (void **)&next.pvalloc },
		{ "_exit", (void **)&next.exit_now },
		{ "quick_exit", (void **)&next.exit_quick },
		{ "fork", (void **)&next.fork },
		{ "_Fork", (void **)&next.fork_bare },
		{ "daemon", (void **)&next.daemon },
		{ "forkpty", (void **)&next.forkpty },
		{ "mmap", (void **)&next.mmap },
		{ "mmap64", (void **)&next.mmap64 },
		{ "munmap", (void **)&next.munmap },
		{ "mremap", (void **)&next.mremap },
		{ "brk", (void **)&next.brk },
		{ "sbrk", (void **)&next.sbrk },
		{ "shmat", (void **)&next.shmat },
		{ "shmdt", (void **)&next.shmdt },
		{ "execve", (void **)&next.execve },
		{ "vfork", (void **)&next.vfork },
		{ "clone", (void **)&next.clone },
		{ "prctl", (void **)&next.prctl },
		{ "dlopen", (void **)&next.dlopen },
		{ "malloc_usable_size", (void **)&next.usable_size },
	};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		*wanted[i].where = symbols_next(wanted[i].symbol);
}

/* Its pointers are all that struct next has. */
static void **pointers(void)
{
	return (void **)(void *)&next;
}
#define POINTERS (sizeof(next) / sizeof(void *))

void next_replace(void *old, void *original)
{
	for (unsigned i = 0; i < POINTERS; i++)
		if (pointers()[i] == old)
			pointers()[i] = original;
}

bool next_lies_in(uint64_t start, uint64_t end)
{
	return (uint64_t)(uintptr_t)next.malloc - start < end - start;
}

void next_find_again(void)
{
	find_all();
	ht_store_release_8(&next_mode, NEXT_EXACT); /* NEXT */
}

bool next_find(void)
{
	uint32_t idle = 0;

	if (next_is_found())
		return true;
	if (self_relocated != next_arena)
		return false;
	/* Relaxed: only one thread ever searches. Its calls may come back here, and are served from
	 * the arena. */
	if (!ht_cas_relaxed_32(&finding, &idle, 1))
		return next_is_found();
	find_all();
	ht_store_release_8(&next_mode, NEXT_EXACT); /* NEXT */
	return true;
}
