/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private memory of the library (private.h). */
#include "shm/private.h"

#include "shm/kernel.h"
#include "shm/layout.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static size_t whole(size_t bytes)
{
	return (bytes + sizeof(struct ht_private) + 4095) & ~(size_t)4095;
}

void *private_map(size_t bytes)
{
	struct ht_private *p = kernel_mmap(NULL, whole(bytes), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, whole(bytes), MADV_DONTDUMP);
	p->self = (uint64_t)(uintptr_t)p;
	p->bytes = whole(bytes);
	p->magic = HT_PRIVATE_MAGIC;
	return p + 1;
}

void *private_resize(void *old, size_t bytes, size_t larger)
{
	struct ht_private *p = kernel_mremap(
		(struct ht_private *)old - 1, whole(bytes), whole(larger), MREMAP_MAYMOVE, NULL);

	if (p == MAP_FAILED)
		return NULL;
	p->self = (uint64_t)(uintptr_t)p;
	p->bytes = whole(larger);
	return p + 1;
}

void private_prefer_huge(void *p, size_t bytes)
{
	madvise((struct ht_private *)p - 1, whole(bytes), MADV_HUGEPAGE);
}

void private_populate(void *from, size_t bytes)
{
	uintptr_t begin = (uintptr_t)from & ~(uintptr_t)4095;

	madvise((void *)begin, (uintptr_t)from + bytes - begin, MADV_POPULATE_WRITE);
}

void private_unmap(void *p, size_t bytes)
{
	kernel_munmap((struct ht_private *)p - 1, whole(bytes));
}
