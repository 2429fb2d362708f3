/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A heap of many call sites: 10^4 distinct stacks (four digits, ten functions each) and a million
 * live blocks. Then it is idle, or churns: frees and allocates at a steady modest rate. Says
 * "ready" on stdout when the blocks are there, and ends when stdin does or after SECONDS. Usage:
 * many_sites [BLOCKS [idle|churn [SECONDS]]]
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/targets/digits.h"

#define DIGITS	  4
#define CHURN_MS  10
#define PER_CHURN 200u

static void *block_make(unsigned i)
{
	void *block = digits_alloc(i % 10000, DIGITS, 16 + i * 31 % 113);

	if (!block)
		abort();
	return block;
}

/* True when the watching side closed our stdin, or the time is over. */
static int over(int wait_ms, time_t until)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char byte;

	if (until && time(NULL) >= until)
		return 1;
	if (until)
		return poll(NULL, 0, wait_ms) != 0;
	return poll(&in, 1, wait_ms) > 0 && read(0, &byte, 1) <= 0;
}

int main(int argc, char **argv)
{
	unsigned blocks = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000, at = 0;
	int churn = argc > 2 && !strcmp(argv[2], "churn");
	time_t until = argc > 3 ? time(NULL) + atoi(argv[3]) : 0;
	void **block = calloc(blocks, sizeof(*block));

	if (!block || !blocks)
		return 2;
	for (unsigned i = 0; i < blocks; i++)
		block[i] = block_make(i);
	if (write(1, "ready\n", 6) != 6)
		return 2;
	while (!over(churn ? CHURN_MS : 200, until)) {
		for (unsigned i = 0; churn && i < PER_CHURN; i++) {
			at = (at + 7919) % blocks;
			free(block[at]);
			block[at] = block_make(at + i);
		}
	}
	return 0;
}
