/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truth program: the scalable allocator of oneTBB by its own names. */
#include <stdlib.h>
#include <string.h>
#include <tbb/scalable_allocator.h>

static void *posix_block(size_t n)
{
	void *p = NULL;

	return scalable_posix_memalign(&p, 128, n) == 0 ? p : NULL;
}

#define NAMED_SITES(X)                                                                             \
	X(0, site_malloc, "scalable_malloc", scalable_malloc(n), n)                                \
	X(1, site_calloc, "scalable_calloc", scalable_calloc(3, n), 3 * n)                         \
	X(2, site_posix, "scalable_posix_memalign", posix_block(n), n)                             \
	X(3, site_aligned, "scalable_aligned_malloc", scalable_aligned_malloc(n, 64), n)
#define RESIZE_API "scalable_realloc"

static void *resize(void *p, size_t n)
{
	return scalable_realloc(p, n);
}

static void give(void *p, size_t n)
{
	if (n > 0)
		scalable_free(p);
}

#include "tests/targets/inner_names.h"
