/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An allocator that counts how often it is called, for a program's own or to be preloaded
 * (plugin/calls.c). It hands out ever higher addresses and takes nothing back. Any thread: it is
 * preloaded into heaptop, too.
 */
#ifndef TESTS_FAULTS_TARGETS_CALLS_H
#define TESTS_FAULTS_TARGETS_CALLS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALLS_POOL (64u << 20) /* bss: what is not touched costs nothing */

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void *memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);
void free(void *p);
unsigned long calls_made(void);

static unsigned long calls;
static size_t used;
static char pool[CALLS_POOL] __attribute__((aligned(16)));

static void *give(size_t align, size_t size)
{
	size_t before = __atomic_load_n(&used, __ATOMIC_RELAXED), at;

	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (align < 16)
		align = 16;
	do {
		if (size > CALLS_POOL / 2 || before + 16 + align + size > CALLS_POOL) {
			errno = ENOMEM;
			return NULL;
		}
		at = (before + 16 + align - 1) & ~(align - 1);
	} while (!__atomic_compare_exchange_n(&used, &before, at + ((size + 15) & ~(size_t)15),
		false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(pool + at - sizeof(size), &size, sizeof(size));
	return pool + at;
}

unsigned long calls_made(void)
{
	return calls;
}

void *malloc(size_t size)
{
	return give(16, size);
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	return give(16, __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

void *realloc(void *p, size_t size)
{
	void *q = give(16, size);
	size_t old = 0;

	if (p)
		memcpy(&old, (char *)p - sizeof(old), sizeof(old));
	if (p && q)
		memcpy(q, p, old < size ? old : size);
	return q;
}

void *memalign(size_t align, size_t size)
{
	return give(align, size);
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
	if (p)
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

#endif
