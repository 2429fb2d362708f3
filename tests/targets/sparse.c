/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with a large private mapping of which it has touched little, and with a large block of
 * which it has touched nothing: for leak scans, which must touch no more of either. Says what it
 * made, as the other leaking programs do, then "ready"; ends at the end of its input.
 *
 * sparse TERABYTES TOUCHES
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE  (UINT64_C(1) << 30)
#define INSIDE 256u /* pointers into the large block, each to a page table of its own */

static char *mapping;
static void **volatile inside; /* so that it is there */

__attribute__((noinline)) static void *definite(void)
{
	return malloc(100);
}

/* Nothing but the mapping points to it. */
__attribute__((noinline)) static void *kept(void)
{
	return malloc(200);
}

__attribute__((noinline)) static void touch(uint64_t bytes, unsigned touches)
{
	for (unsigned i = 0; i < touches; i++)
		*(void **)(mapping + bytes / touches * i / 4096 * 4096 + 64) = kept();
}

__attribute__((noinline)) static void large_make(void)
{
	char *large = malloc(LARGE);

	inside = malloc((INSIDE + 1) * sizeof(*inside));
	for (unsigned i = 0; i < INSIDE; i++)
		inside[i] = large + LARGE / INSIDE * i + LARGE / INSIDE / 2;
	inside[INSIDE] = large;
}

/* No pointers are left where functions had them. */
__attribute__((noinline)) static void stack_clear(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(int argc, char **argv)
{
	uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) << 40 : 0;
	unsigned touches = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
	char end;

	mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping == MAP_FAILED)
		return 3;
	touch(bytes, touches);
	large_make();
	if (!definite())
		return 2;
	stack_clear();
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 2;
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	return 0;
}
