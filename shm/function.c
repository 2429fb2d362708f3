/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the allocation functions (shm/layout.h), for viewers. */
#include "shm/layout.h"

static const char *const names[HT_FUNCTION_COUNT] = {
	[HT_FN_NONE] = "?",
	[HT_FN_MALLOC] = "malloc",
	[HT_FN_CALLOC] = "calloc",
	[HT_FN_REALLOC] = "realloc",
	[HT_FN_REALLOCARRAY] = "reallocarray",
	[HT_FN_POSIX_MEMALIGN] = "posix_memalign",
	[HT_FN_ALIGNED_ALLOC] = "aligned_alloc",
	[HT_FN_MEMALIGN] = "memalign",
	[HT_FN_VALLOC] = "valloc",
	[HT_FN_PVALLOC] = "pvalloc",
	[HT_FN_NEW] = "operator new",
	[HT_FN_NEW_ARRAY] = "operator new[]",
	[HT_FN_NEW_NOTHROW] = "operator new(nothrow)",
	[HT_FN_NEW_ARRAY_NOTHROW] = "operator new[](nothrow)",
	[HT_FN_NEW_ALIGNED] = "operator new(align)",
	[HT_FN_NEW_ARRAY_ALIGNED] = "operator new[](align)",
	[HT_FN_NEW_ALIGNED_NOTHROW] = "operator new(align, nothrow)",
	[HT_FN_NEW_ARRAY_ALIGNED_NOTHROW] = "operator new[](align, nothrow)",
	[HT_FN_MMAP] = "mmap",
	[HT_FN_MREMAP] = "mremap",
	[HT_FN_BRK] = "brk",
	[HT_FN_SBRK] = "sbrk",
	[HT_FN_SHMAT] = "shmat",
	[HT_FN_POOL] = "pool",
	[HT_FN_FREE] = "free",
	[HT_FN_DELETE] = "operator delete",
	[HT_FN_DELETE_ARRAY] = "operator delete[]",
	[HT_FN_DELETE_ALIGNED] = "operator delete(align)",
	[HT_FN_DELETE_ARRAY_ALIGNED] = "operator delete[](align)",
#define BEFORE(class, size) [HT_FN_BEFORE + (class)] = "before attach, " size
	BEFORE(0, "<= 8 bytes"),
	BEFORE(1, "<= 16 bytes"),
	BEFORE(2, "<= 32 bytes"),
	BEFORE(3, "<= 64 bytes"),
	BEFORE(4, "<= 128 bytes"),
	BEFORE(5, "<= 256 bytes"),
	BEFORE(6, "<= 512 bytes"),
	BEFORE(7, "<= 1 KB"),
	BEFORE(8, "<= 2 KB"),
	BEFORE(9, "<= 4 KB"),
	BEFORE(10, "<= 8 KB"),
	BEFORE(11, "<= 16 KB"),
	BEFORE(12, "<= 32 KB"),
	BEFORE(13, "<= 64 KB"),
	BEFORE(14, "<= 128 KB"),
	BEFORE(15, "<= 256 KB"),
	BEFORE(16, "<= 512 KB"),
	BEFORE(17, "<= 1 MB"),
	BEFORE(18, "<= 2 MB"),
	BEFORE(19, "<= 4 MB"),
	BEFORE(20, "<= 8 MB"),
	BEFORE(21, "<= 16 MB"),
	BEFORE(22, "<= 32 MB"),
	BEFORE(23, "> 32 MB"),
	BEFORE(24, "other allocators"),
#undef BEFORE
};

const char *ht_function_name(uint32_t function)
{
	return function < HT_FUNCTION_COUNT ? names[function] : "?";
}
