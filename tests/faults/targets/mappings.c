/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program, strict: a program that also maps, moves, splits and replaces memory by itself, and
 * moves the break, between its allocations. None of that is an allocation, and all of it must work.
 */
#include <sys/mman.h>
#include "tests/targets/truth.h"

#define GB (1ul << 30)

enum { BETWEEN };

static NOINLINE void site_between(size_t n, int stays)
{
	struct truth_block b = { truth_got(BETWEEN, malloc(n), n), n, BETWEEN };

	memset(b.at, 'b', n);
	if (!stays)
		truth_block_free(&b);
}

static void need(int holds, const char *what)
{
	site_between(5000, 0);
	site_between(200000, 0);
	if (holds)
		return;
	truth_text(2, what);
	_exit(3);
}

static char *map(size_t bytes, void *where, int flags)
{
	char *p = mmap(where, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	need(p != MAP_FAILED, "mmap\n");
	return p;
}

static void split_and_move(void)
{
	char *p = map(GB, NULL, 0), *moved;

	p[0] = 'f';
	p[GB - 1] = 'l';
	need(munmap(p + GB / 4, GB / 2) == 0, "munmap of the middle\n");
	moved = mremap(p + 3 * (GB / 4), GB / 4, GB / 2, MREMAP_MAYMOVE);
	need(moved != MAP_FAILED && moved[GB / 4 - 1] == 'l' && p[0] == 'f', "mremap\n");
	need(munmap(moved, GB / 2) == 0 && munmap(p, GB / 4) == 0, "munmap\n");
}

static void replace(void)
{
	char *p = map(1ul << 22, NULL, 0);

	memset(p, 'o', 1ul << 22);
	need(map(1ul << 20, p + (1ul << 20), MAP_FIXED) == p + (1ul << 20), "MAP_FIXED\n");
	need(p[1ul << 20] == 0 && p[0] == 'o' && p[3ul << 20] == 'o', "what was replaced\n");
	need(madvise(p, 1ul << 20, MADV_DONTNEED) == 0 && p[0] == 0, "MADV_DONTNEED\n");
	need(mprotect(p, 4096, PROT_NONE) == 0 && munmap(p, 1ul << 22) == 0, "munmap of all\n");
}

static void move_break(void)
{
	char *old = sbrk(1 << 20);

	need(old != (void *)-1, "sbrk\n");
	memset(old, 's', 1 << 20);
	need(old[(1 << 20) - 1] == 's', "what sbrk gave\n");
	site_between(300, 1);
	if (sbrk(0) == old + (1 << 20)) /* nobody has moved it since */
		need(sbrk(-(1 << 20)) != (void *)-1, "sbrk back\n");
}

int main(void)
{
	truth_strict = 1;
	truth_name(BETWEEN, "site_between", "malloc");
	for (int i = 0; i < 50; i++) {
		split_and_move();
		replace();
		move_break();
		site_between(1000 + (size_t)i, i % 2);
	}
	truth_text(1, "done\n");
	return 0;
}
