/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates from COUNT different call stacks: the bits of a number decide which of two functions
 * calls which, so that one differs from the last in its inner frames, as in a recursion. Every
 * eighth block is kept. Says what it did, and ends with 5.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BITS 24
#define KEEP 8u

#define STEP(name)                                                                                 \
	static __attribute__((noinline)) void *step_##name(uint32_t number, int bits)              \
	{                                                                                          \
		void *p = next(number, bits);                                                      \
		__asm__ volatile("" ::: "memory");                                                 \
		return p;                                                                          \
	}

static void *next(uint32_t number, int bits);
STEP(a)
STEP(b)

static __attribute__((noinline)) void *next(uint32_t number, int bits)
{
	void *p;

	if (bits == 0)
		p = malloc(24);
	else if (number >> (bits - 1) & 1)
		p = step_a(number, bits - 1);
	else
		p = step_b(number, bits - 1);
	__asm__ volatile("" ::: "memory");
	return p;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
	uint32_t kept = 0;
	char line[128];

	for (uint32_t i = 0; i < count; i++) {
		void *p = next(i, BITS);

		if (!p)
			return 1;
		if (i % KEEP == 0)
			kept++;
		else
			free(p);
	}
	snprintf(line, sizeof(line), "{\"allocs\":%u,\"frees\":%u,\"live_bytes\":%u,\"wrong\":0}\n",
		count, count - kept, kept * 24);
	if (write(1, line, strlen(line)) < 0)
		return 1;
	if (argc > 2)
		raise(SIGKILL);
	return 5;
}
