// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pages that look alike and are not: a block that is read only, and one of huge pages of which a
 * part is read only, are the kernel's zeros; a block that is shared with a child since a fork is
 * memory. 12 MB of its blocks are in memory, whatever huge pages are set to, and what was read only
 * where the kernel has no page of zeros to share. Says "ready", its pid and how many MB those are,
 * and ends with its input.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB   (1u << 20)
#define HUGE (2 * MB)
#define PAGE 4096u

static size_t anonymous_bytes(void)
{
	char line[256];
	size_t kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "RssAnon: %zu", &kb);
	if (f)
		fclose(f);
	return kb * 1024;
}

/* Reads each page. How many bytes are in memory by that, all of them or none: the kernel's sum is
 * some pages off. */
static size_t read_all(const volatile char *p, size_t bytes)
{
	size_t before = anonymous_bytes();

	for (size_t i = 0; i < bytes; i += PAGE)
		if (p[i])
			exit(1);
	return anonymous_bytes() - before > bytes / 2 && anonymous_bytes() > before ? bytes : 0;
}

static char *aligned(char *p, size_t to)
{
	return (char *)(((uintptr_t)p + to - 1) & ~(uintptr_t)(to - 1));
}

/* Of small pages, now and later. */
static char *block_make(size_t bytes)
{
	char *p = malloc(bytes);

	madvise(aligned(p, PAGE), bytes - 2 * (size_t)PAGE, MADV_NOHUGEPAGE);
	return p;
}

int main(void)
{
	char *zeros, *shared, *huge, *at;
	size_t in_memory;
	pid_t child;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so that heads of blocks are on small pages */
	zeros = block_make(16 * MB);
	shared = memset(block_make(8 * MB), 1, 8 * MB);
	huge = malloc(16 * MB);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	at = aligned(huge, HUGE);
	madvise(at, 12 * MB, MADV_HUGEPAGE);
	memset(at, 2, 4 * MB);
	in_memory = read_all(zeros, 16 * MB);
	in_memory += read_all(at + 6 * MB, 4 * MB);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	printf("ready %d %zu\n", getpid(), in_memory / MB);
	fflush(stdout);
	getchar();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return shared[0] - 1;
}
