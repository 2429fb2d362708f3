/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose blocks are pointed to from shared memory alone, in a mapping that it has not
 * touched: it wrote there by another, which is gone. One more block is lost. Says "ready"; at the
 * end of its input, how many bytes there are in the file or memory, and in its pages.
 *
 * pool file PATH    a file
 * pool memory       memory with a name, which it has open
 * pool closed       the same, which it has not
 * pool anonymous    memory without a name
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define POOL_BYTES (64u << 20)
#define STEP	   (4u << 20) /* between two pointers */
#define NOINLINE   __attribute__((noinline))

static int memory_open(int argc, char **argv)
{
	if (strcmp(argv[1], "file") == 0 && argc > 2)
		return open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return strcmp(argv[1], "anonymous") == 0 ? -1 : memfd_create("pool", MFD_CLOEXEC);
}

NOINLINE static void pooled(char *writing)
{
	for (unsigned at = 0; at < POOL_BYTES; at += STEP)
		*(void **)(writing + at) = malloc(100);
}

NOINLINE static void lost(void)
{
	(void)!malloc(200);
}

NOINLINE static void stack_clear(void)
{
	char bytes[4096];

	explicit_bzero(bytes, sizeof(bytes));
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? memory_open(argc, argv) : -1;
	int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
	char *pool, *writing;
	struct stat st = { 0 };

	if (fd >= 0 && ftruncate(fd, POOL_BYTES) != 0)
		return 1;
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
	writing = mremap(pool, 0, POOL_BYTES, MREMAP_MAYMOVE); /* the same once more: mremap(2) */
	if (pool == MAP_FAILED || writing == MAP_FAILED)
		return 1;
	pooled(writing);
	munmap(writing, POOL_BYTES);
	lost();
	stack_clear();
	if (argc > 1 && strcmp(argv[1], "closed") == 0) {
		close(fd);
		fd = -1;
	}
	puts("ready");
	fflush(stdout);
	getchar();
	if (fd >= 0)
		fstat(fd, &st);
	printf("%lld bytes\n", (long long)st.st_blocks * 512);
	return 0;
}
