/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A truth program for an allocator's functions under names of its own. The file that includes this
 * defines NAMED_SITES(X), X(number, function, api, call, size) for each of its allocating
 * functions, of a size `n`; resize(p, n), which the site RESIZE calls, and its api RESIZE_API;
 * give(p, n).
 */
#include <pthread.h>
#include "tests/targets/truth.h"

enum { RESIZE = 40, AROUND };

#define SITE_FUNCTION(number, function, api, call, size)                                           \
	static NOINLINE void *function(size_t n)                                                   \
	{                                                                                          \
		void *p = call;                                                                    \
                                                                                                   \
		return truth_got(number, p, size);                                                 \
	}
NAMED_SITES(SITE_FUNCTION)

static NOINLINE void site_resize(struct truth_block *b, size_t n)
{
	void *p = resize(b->at, n);

	truth_add(&truth_reallocs, 1);
	truth_gone(b->site, b->bytes);
	*b = (struct truth_block){ truth_got(RESIZE, p, n), n, RESIZE };
}

/* libc's name for it, which is the same allocator's or another's. */
static NOINLINE void *site_around(size_t n)
{
	return truth_got(AROUND, malloc(n), n);
}

static void use(void *p, size_t size, unsigned site, unsigned i)
{
	struct truth_block b = { p, size, site };

	memset(p, (int)i, size);
	if (i % 3 == 0)
		site_resize(&b, size + i % 200 + 1);
	if (i % 5 == 0)
		return;
	truth_gone(b.site, b.bytes);
	give(b.at, b.bytes);
}

static void *work(void *arg)
{
	for (unsigned i = 0; i < 500; i++) {
		size_t n = 1 + i % 300;
		struct truth_block around = { site_around(n), n, AROUND };

#define SITE_USE(number, function, api, call, size) use(function(n), size, number, i + number);
		NAMED_SITES(SITE_USE)
		truth_block_free(&around);
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];

#define SITE_NAME(number, function, api, call, size) truth_name(number, #function, api);
	NAMED_SITES(SITE_NAME)
	truth_name(RESIZE, "site_resize", RESIZE_API);
	truth_name(AROUND, "site_around", "malloc");
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	work(NULL);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
