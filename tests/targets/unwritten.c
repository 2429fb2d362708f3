// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pages that look alike and are not: a block that is read only, and one of huge pages of which a
 * part is read only, are the kernel's zeros; a block that is shared with a child since a fork is
 * memory. 12 MB of its blocks are in memory, whatever huge pages are set to. Says "ready", and ends
 * with its input.
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

static unsigned read_all(const volatile char *p, size_t bytes)
{
	unsigned sum = 0;

	for (size_t i = 0; i < bytes; i += PAGE)
		sum += (unsigned)p[i];
	return sum;
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
	unsigned sum;
	pid_t child;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* so that heads of blocks are on small pages */
	zeros = block_make(16 * MB);
	shared = memset(block_make(8 * MB), 1, 8 * MB);
	huge = malloc(16 * MB);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	at = aligned(huge, HUGE);
	madvise(at, 12 * MB, MADV_HUGEPAGE);
	memset(at, 2, 4 * MB);
	sum = read_all(zeros, 16 * MB) + read_all(at + 6 * MB, 4 * MB);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	puts("ready");
	fflush(stdout);
	getchar();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return (int)(sum + (unsigned)shared[0] - 1);
}
