/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with a heap of so many megabytes that notices when it stands still: it looks at the
 * clock again and again, and does a little work on its blocks. Says "ready" and how many blocks it
 * has; then answers each line of its input with the longest time between two looks since the line
 * before, in ns. The line "leaks" has LeakSanitizer look for leaks first, where it was built with
 * it; the answer to "fork" is how long the kernel takes to copy it. At the end of its input it says
 * "end" and returns.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOST	100u
#define LEAST	32u
#define SPREAD	336u /* bytes: 200 on average */
#define WORK	64u /* blocks written to between two looks */
#define LOOK_NS 50000

struct node {
	struct node *next;
	uint64_t number[];
};

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static struct node *list;
static unsigned long blocks;

static struct node *node_make(uint64_t number)
{
	size_t size = LEAST + number * 2654435761u % SPREAD;
	struct node *n = malloc(size);

	if (!n)
		exit(2);
	for (size_t i = 0; i < size / sizeof(uint64_t) - 1; i++)
		n->number[i] = number + i;
	return n;
}

static void heap_make(uint64_t bytes)
{
	volatile uintptr_t lost = 0;

	for (uint64_t made = 0; made < bytes; blocks++) {
		struct node *n = node_make(blocks);

		n->next = list;
		list = n;
		made += LEAST + blocks * 2654435761u % SPREAD;
	}
	for (unsigned i = 0; i < LOST; i++)
		lost ^= (uintptr_t)node_make(i); /* kept nowhere as it is */
	(void)lost;
	blocks += LOST;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What any copy on write takes; by the call itself, so that nothing else is done. */
static uint64_t fork_ns(void)
{
	uint64_t start = now_ns(), ns;
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		syscall(SYS_exit, 0);
	ns = now_ns() - start;
	waitpid((pid_t)child, NULL, 0);
	return child > 0 ? ns : 0;
}

static void work(void)
{
	static struct node *at;

	for (unsigned i = 0; i < WORK; i++) {
		at = at && at->next ? at->next : list;
		at->number[1]++;
	}
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint64_t last, longest = 0;
	char line[16];
	ssize_t got;

	heap_make(strtoull(argc > 1 ? argv[1] : "1", NULL, 10) * 1000000);
	dprintf(STDOUT_FILENO, "ready %lu\n", blocks);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	last = now_ns();
	while ((got = read(STDIN_FILENO, line, sizeof(line))) != 0) {
		bool forks = got > 1 && *line == 'f';
		uint64_t now, taken = forks ? fork_ns() : 0;

		if (got > 1 && !forks && __lsan_do_recoverable_leak_check)
			__lsan_do_recoverable_leak_check();
		nanosleep(&pause, NULL);
		work();
		now = now_ns();
		longest = now - last > longest ? now - last : longest;
		last = now;
		if (got > 0) {
			dprintf(STDOUT_FILENO, "%llu\n",
				(unsigned long long)(forks ? taken : longest));
			longest = 0;
		}
	}
	dprintf(STDOUT_FILENO, "end\n");
	return 0;
}
