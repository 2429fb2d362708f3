/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truth program: mimalloc by its own names. Its malloc is the next allocator's, where it is linked.
 */
#include <mimalloc.h>
#include <stdlib.h>
#include <string.h>

static void *posix_block(size_t n)
{
	void *p = NULL;

	return mi_posix_memalign(&p, 64, n) == 0 ? p : NULL;
}

/* mi_strdup's caller: inlined into the site. */
static inline __attribute__((always_inline)) void *text_block(size_t n)
{
	return mi_strdup(n > 0 ? "some text" : "");
}

#define NAMED_SITES(X)                                                                             \
	X(0, site_malloc, "mi_malloc", mi_malloc(n), n)                                            \
	X(1, site_calloc, "mi_calloc", mi_calloc(3, n), 3 * n)                                     \
	X(2, site_zalloc, "mi_zalloc", mi_zalloc(n), n)                                            \
	X(3, site_aligned, "mi_malloc_aligned", mi_malloc_aligned(n, 64), n)                       \
	X(4, site_heap, "mi_heap_malloc", mi_heap_malloc(mi_heap_get_default(), n), n)             \
	X(5, site_text, "mi_strdup", text_block(n), 10)                                            \
	X(6, site_posix, "mi_posix_memalign", posix_block(n), n)                                   \
	X(7, site_new, "mi_new", mi_new(n), n)
#define RESIZE_API "mi_realloc"

static void *resize(void *p, size_t n)
{
	return mi_realloc(p, n);
}

static void give(void *p, size_t n)
{
	if (n % 2)
		mi_free(p);
	else
		mi_free_size(p, n);
}

#include "tests/targets/inner_names.h"
