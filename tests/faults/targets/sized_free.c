/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: C23's frees that tell the size, where there are any. Says on stderr which it
 * found.
 */
#include "tests/targets/truth.h"

void free_sized(void *p, size_t size) __attribute__((weak));
void free_aligned_sized(void *p, size_t align, size_t size) __attribute__((weak));

static NOINLINE void *site_sized(size_t n)
{
	return truth_got(0, malloc(n), n);
}

static NOINLINE void *site_aligned(size_t n)
{
	return truth_got(1, aligned_alloc(64, n), n);
}

static void give_sized(void *p, size_t n)
{
	truth_gone(0, n);
	if (free_sized)
		free_sized(p, n);
	else
		free(p);
}

static void give_aligned(void *p, size_t n)
{
	truth_gone(1, n);
	if (free_aligned_sized)
		free_aligned_sized(p, 64, n);
	else
		free(p);
}

int main(void)
{
	truth_strict = 1;
	truth_name(0, "site_sized", "malloc");
	truth_name(1, "site_aligned", "aligned_alloc");
	for (size_t n = 1; n < 2000; n++) {
		void *p = site_sized(n), *q = site_aligned(n * 64);

		if (n % 7)
			give_sized(p, n);
		if (n % 5)
			give_aligned(q, n * 64);
	}
	if (free_sized)
		free_sized(NULL, 10);
	truth_text(2, free_sized && free_aligned_sized ? "found\n" : "not found\n");
	return 0;
}
