/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truth program: jemalloc's own functions, and the malloc that it brings when it is linked
 * statically. */
#include <jemalloc/jemalloc.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_SITES(X)                                                                             \
	X(0, site_mallocx, "mallocx", mallocx(n, 0), n)                                            \
	X(1, site_aligned, "mallocx", mallocx(n, MALLOCX_ALIGN(64)), n)                            \
	X(2, site_memalign, "memalign", memalign(64, n), n)
#define RESIZE_API "rallocx"

static void *resize(void *p, size_t n)
{
	/* In place, if that is possible: that is the same block. */
	return rallocx(p, n, 0);
}

static void give(void *p, size_t n)
{
	if (n % 2)
		dallocx(p, 0);
	else
		sdallocx(p, sallocx(p, 0), 0);
}

#include "tests/targets/inner_names.h"
