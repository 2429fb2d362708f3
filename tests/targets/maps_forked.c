// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Maps memory before two forks and after them. The last process says "ready PID" and waits, and its
 * parents for it. With an argument the one between ends as soon as its child runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (1ul << 20)

static char *kept, *dropped, *replaced, *between, *late;

/* Each caller is a call site of its own. */
#define MAP(bytes) mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

static char *filled(char *p, unsigned long bytes, int value)
{
	if (p == MAP_FAILED)
		exit(1);
	return memset(p, value, bytes);
}

/* Each has memory between that no call is seen to map, so that the kernel joins no two of them. */
static char *apart(void)
{
	return (char *)syscall(SYS_mmap, NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) static void map_kept(void)
{
	kept = filled(MAP(8 * MB), 8 * MB, 1);
	apart();
}

__attribute__((noinline)) static void map_dropped(void)
{
	dropped = filled(MAP(5 * MB), 5 * MB, 2);
	apart();
}

__attribute__((noinline)) static void map_replaced(void)
{
	replaced = filled(MAP(4 * MB), 4 * MB, 3);
	apart();
}

__attribute__((noinline)) static void map_between(void)
{
	between = filled(MAP(3 * MB), 3 * MB, 4);
	apart();
}

__attribute__((noinline)) static void map_late(void)
{
	late = filled(MAP(16 * MB), 16 * MB, 5);
}

__attribute__((noinline)) static void map_over(void)
{
	mmap(replaced, 4 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		0);
	memset(replaced, 6, 4 * MB);
}

static void pause_until_end(void)
{
	while (getchar() != EOF)
		;
	exit(0);
}

/* Forks, and goes on in the child: when the parent has ended, or mapped what the child has not. */
static void child_goes_on(int ends)
{
	int end[2], runs[2], child;
	char none = 0;

	if (pipe(end) != 0 || pipe(runs) != 0 || (child = fork()) < 0)
		exit(1);
	if (child == 0) {
		close(end[1]);
		if (write(runs[1], &none, 1) != 1)
			exit(1);
		while (read(end[0], &none, 1) > 0)
			;
		return;
	}
	if (read(runs[0], &none, 1) != 1 || ends)
		exit(0);
	map_late();
	close(end[1]);
	waitpid(child, NULL, 0);
	pause_until_end();
}

/* Unmaps what is inherited; memory that no call is seen to map comes to lie there. */
static void drop(void)
{
	munmap(dropped, 5 * MB);
	syscall(SYS_mmap, dropped, 5 * MB, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(dropped, 7, 5 * MB);
}

int main(int argc, char **argv)
{
	int ends = argc > 1;

	(void)argv;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	map_kept();
	map_dropped();
	map_replaced();
	child_goes_on(0);
	map_between();
	drop();
	child_goes_on(ends);
	map_over();
	memset(kept, 8, 8 * MB);
	memset(between, 9, 3 * MB);
	printf("ready %d\n", getpid());
	fflush(stdout);
	pause_until_end();
	return 0;
}
