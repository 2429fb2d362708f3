/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates what it is asked to: a line "keep N" or "turn N" on standard input is N blocks of 1000
 * bytes, or N of 500 that are freed again, and "step N" one of N times 1000; "lose N" is N of 700
 * that nothing points to; "drop N" frees N that were kept, the oldest first; "twice N" frees N
 * blocks of 440 bytes twice; "map N" maps N pages, and unmaps what it mapped before; "fork N" forks
 * N children, which allocate a block each and end with their parent. It answers each line when that
 * is done, and the first answer is its pid.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define KEPT_MAX 100000

static void *kept[KEPT_MAX];
static size_t first, last;
static void *volatile last_lost;

__attribute__((noinline)) void asked_keep(int n)
{
	while (n-- > 0 && last < KEPT_MAX) {
		kept[last] = malloc(1000);
		memset(kept[last++], 1, 1000);
	}
}

__attribute__((noinline)) void asked_step(int n)
{
	static char *step;

	step = realloc(step, (size_t)n * 1000);
}

__attribute__((noinline)) void asked_turn(int n)
{
	for (void *volatile p; n-- > 0;) {
		p = malloc(500);
		free(p);
	}
}

__attribute__((noinline)) void asked_lose(int n)
{
	while (n-- > 0)
		last_lost = malloc(700);
	last_lost = NULL;
}

/* Without the mark that glibc knows a freed block by, the second free is one to it as others are.
 */
__attribute__((noinline)) void asked_twice(int n)
{
	for (size_t *volatile p; n-- > 0;) {
		p = malloc(440);
		free(p);
		p[1] = 0;
		free(p);
		p = malloc(440);
		p = malloc(440);
	}
}

__attribute__((noinline)) void asked_map(int n)
{
	static void *mapped;
	static size_t bytes;

	if (bytes)
		munmap(mapped, bytes);
	bytes = (size_t)n * 4096;
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* What calls that are over left below us; a later one's frame may have holes. */
__attribute__((noinline)) static void scrub(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

static void asked_fork(int n)
{
	int done[2];
	char byte;

	if (pipe(done) != 0)
		abort();
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
			asked_keep(1);
			if (write(done[1], "", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		if (read(done[0], &byte, 1) != 1)
			abort();
	}
	close(done[0]);
	close(done[1]);
}

static void asked_drop(int n)
{
	while (n-- > 0 && first < last)
		free(kept[first++]);
}

int main(void)
{
	char line[64], what[16];
	int n;

	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s %d", what, &n) != 2)
			continue;
		if (strcmp(what, "keep") == 0)
			asked_keep(n);
		else if (strcmp(what, "step") == 0)
			asked_step(n);
		else if (strcmp(what, "lose") == 0)
			asked_lose(n);
		else if (strcmp(what, "turn") == 0)
			asked_turn(n);
		else if (strcmp(what, "twice") == 0)
			asked_twice(n);
		else if (strcmp(what, "map") == 0)
			asked_map(n);
		else if (strcmp(what, "fork") == 0)
			asked_fork(n);
		else if (strcmp(what, "drop") == 0)
			asked_drop(n);
		scrub();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
