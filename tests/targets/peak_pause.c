/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates busily, pauses for 300 ms, and reaches its peak with the N-th event after the pause
 * (the argument). It prints when, in ns since main: where the busy time had 1,000 events to go, and
 * the end of the pause.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BUSY 20000
#define REST 500 /* pairs */

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void busy(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		void *volatile p = malloc(100);

		free(p);
	}
}

__attribute__((noinline)) static void climb(int blocks)
{
	for (int i = 0; i < blocks; i++) {
		void *volatile p = malloc(10000);

		(void)p;
	}
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 300000000 };
	uint64_t start = clock_ns(), before, after;
	char line[64];
	int len;

	busy(BUSY);
	before = clock_ns();
	busy(REST);
	nanosleep(&pause, NULL);
	after = clock_ns();
	climb(argc > 1 ? atoi(argv[1]) : 1);
	len = snprintf(
		line, sizeof(line), "%" PRIu64 " %" PRIu64 "\n", before - start, after - start);
	_exit(write(1, line, (size_t)len) != len);
}
