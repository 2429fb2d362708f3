/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An allocator to be preloaded that signal handlers may enter at any point, and that no mistake of
 * a program's ends: it hands out ever higher addresses and takes nothing back.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define POOL_BYTES (8ull << 30) /* address space; what is not touched costs nothing */
#define HEADER	   16u /* in front of a block: its size */

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void *memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);
void free(void *p);

static char *pool;
static uint64_t used;

static char *pool_here(void)
{
	char *now = __atomic_load_n(&pool, __ATOMIC_ACQUIRE), *mine;

	if (now)
		return now;
	mine = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mine == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(&pool, &now, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return mine;
	munmap(mine, POOL_BYTES);
	return now;
}

/* Static: calls of a function with a public name would go to whoever is preloaded before us. */
static void *give(size_t align, size_t size)
{
	char *start = pool_here();
	uint64_t at;

	if (align < HEADER)
		align = HEADER;
	if (!start || size > POOL_BYTES / 4 || align > POOL_BYTES / 4) {
		errno = ENOMEM;
		return NULL;
	}
	at = __atomic_fetch_add(
		&used, HEADER + align + ((size + 15) & ~(size_t)15), __ATOMIC_RELAXED);
	if (at + HEADER + align + size + 16 > POOL_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	start = (char *)(((uintptr_t)start + at + HEADER + align - 1) & ~(uintptr_t)(align - 1));
	memcpy(start - HEADER, &size, sizeof(size));
	return start;
}

void *memalign(size_t align, size_t size)
{
	return give(align, size);
}

void *malloc(size_t size)
{
	return give(HEADER, size);
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	return give(HEADER, bytes);
}

void *realloc(void *p, size_t size)
{
	void *q = give(HEADER, size);
	size_t old = 0;

	if (p)
		memcpy(&old, (char *)p - HEADER, sizeof(old));
	if (p && q)
		memcpy(q, p, old < size ? old : size);
	return q;
}

void *aligned_alloc(size_t align, size_t size)
{
	return give(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *p = give(align, size);

	if (p)
		*out = p;
	return p ? 0 : ENOMEM;
}

void free(void *p)
{
	(void)p;
}
