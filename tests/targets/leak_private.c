/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page with the mark of the recorder's private memory, right behind the program's own data, where
 * the kernel may put such memory: the only pointer to a block is there, and to another one it is in
 * the page behind, which is the program's. Says what it made, as the other leaking programs do.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/layout.h"

#define PAGE 4096ul

extern char _end[];

__attribute__((noinline)) static void *definite(void)
{
	return malloc(1000);
}

__attribute__((noinline)) static void *reachable(void)
{
	return malloc(2000);
}

__attribute__((noinline)) static int place(void)
{
	void *at = (void *)(((uintptr_t)_end + PAGE - 1) & ~(PAGE - 1));
	uint64_t *page = mmap(at, 2 * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	struct ht_private mark = { HT_PRIVATE_MAGIC, (uintptr_t)at, PAGE, { 0 } };

	if (page != at)
		return 1;
	memcpy(page, &mark, sizeof(mark));
	page[100] = (uintptr_t)definite();
	page[PAGE / sizeof(*page) + 100] = (uintptr_t)reachable();
	return 0;
}

int main(void)
{
	if (place() != 0) {
		fputs("there is something behind the data\n", stderr);
		return 1;
	}
	puts("definite 1 1000\nreachable 1 2000");
	return 0;
}
