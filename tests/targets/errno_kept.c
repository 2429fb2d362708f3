/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints what every allocation call does to errno, when it succeeds and when it fails. The output
 * with and without heaptop must be the same, line for line; errno is set to 12345 before each call.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t huge = (size_t)PTRDIFF_MAX - 4096, half = SIZE_MAX / 2 + 2, small = 100;

/* `result` is 1 for a block, 0 for none; posix_memalign tells its code instead. */
static void show(const char *call, long result)
{
	int kept = errno;

	printf("%-28s result %ld errno %d\n", call, result, kept);
	fflush(stdout);
}

#define TRY_BLOCK(expression)                                                                      \
	do {                                                                                       \
		void *volatile block_;                                                             \
		errno = 12345;                                                                     \
		block_ = (expression);                                                             \
		show(#expression, block_ != NULL);                                                 \
		free(block_);                                                                      \
	} while (0)

#define TRY_CODE(expression)                                                                       \
	do {                                                                                       \
		void *out = NULL;                                                                  \
		errno = 12345;                                                                     \
		show(#expression, (expression));                                                   \
		free(out);                                                                         \
	} while (0)

static void succeeding(void)
{
	TRY_BLOCK(malloc(small));
	TRY_BLOCK(malloc(0));
	TRY_BLOCK(malloc(small * 100000));
	TRY_BLOCK(calloc(small, 3));
	TRY_BLOCK(realloc(NULL, small));
	TRY_BLOCK(realloc(malloc(10), small * 1000));
	TRY_BLOCK(realloc(malloc(10), 0));
	TRY_BLOCK(reallocarray(NULL, small, 4));
	TRY_BLOCK(aligned_alloc(64, 128));
	TRY_BLOCK(memalign(4096, small));
	TRY_BLOCK(valloc(small));
	TRY_BLOCK(pvalloc(small));
	TRY_CODE(posix_memalign(&out, 64, small));
}

static void failing(void)
{
	TRY_BLOCK(malloc(huge));
	TRY_BLOCK(calloc(half, 2));
	TRY_BLOCK(realloc(NULL, huge));
	TRY_BLOCK(reallocarray(NULL, half, 2));
	TRY_BLOCK(aligned_alloc(64, huge));
	TRY_BLOCK(memalign(64, huge));
	TRY_BLOCK(valloc(huge));
	TRY_BLOCK(pvalloc(huge));
	TRY_CODE(posix_memalign(&out, 64, huge));
	TRY_CODE(posix_memalign(&out, 3, small));
	TRY_CODE(posix_memalign(&out, 0, small));
}

static void freeing(void)
{
	void *block = malloc(small), *mapped = malloc(small * 100000);

	errno = 12345;
	free(NULL);
	show("free(NULL)", 0);
	errno = 12345;
	free(block);
	show("free(small)", 0);
	errno = 12345;
	free(mapped);
	show("free(mapped)", 0);
	errno = 12345;
	show("malloc_usable_size(NULL)", (long)malloc_usable_size(NULL));
}

int main(void)
{
	/* Twice: the first call of each may be what starts something up. */
	for (int i = 0; i < 2; i++) {
		succeeding();
		failing();
		freeing();
	}
	return 0;
}
