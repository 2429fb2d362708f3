/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrays that take as many elements as fit, as systemd's do: the last ones are beyond what was
 * asked for. Each element is the only pointer to a block of 100 bytes; one more of 300 is lost.
 * Prints how many elements there are.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void **small, **large; /* the second has a mapping of its own */

/* The compiler must not count on the size that was asked for. */
static __attribute__((noinline)) void **array_new(size_t bytes, size_t *n)
{
	void **array = malloc(bytes);

	*n = malloc_usable_size(array) / sizeof(*array);
	__asm__("" : "+r"(array));
	return array;
}

__attribute__((noinline)) static void *element(void)
{
	return malloc(100);
}

__attribute__((noinline)) static void scrub(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	size_t n, m;
	void *volatile lost;

	small = array_new(80, &n);
	large = array_new(200000, &m);
	for (size_t i = 0; i < n; i++)
		small[i] = element();
	for (size_t i = 0; i < m; i++)
		large[i] = i + 1 == m ? element() : NULL;
	lost = malloc(300);
	lost = NULL;
	scrub();
	printf("%zu %zu\n", n, m);
	return lost != NULL;
}
