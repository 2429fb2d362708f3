/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truth program: tcmalloc by its own names. */
#include <gperftools/tcmalloc.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_SITES(X)                                                                             \
	X(0, site_malloc, "tc_malloc", tc_malloc(n), n)                                            \
	X(1, site_calloc, "tc_calloc", tc_calloc(3, n), 3 * n)                                     \
	X(2, site_aligned, "tc_memalign", tc_memalign(64, n), n)                                   \
	X(3, site_valloc, "tc_valloc", tc_valloc(n), n)
#define RESIZE_API "tc_realloc"

static void *resize(void *p, size_t n)
{
	return tc_realloc(p, n);
}

static void give(void *p, size_t n)
{
	if (n > 0)
		tc_free(p);
}

#include "tests/targets/inner_names.h"
