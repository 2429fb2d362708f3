/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A heap of many call sites: 10^4 distinct stacks (four digits, ten functions each) and a million
 * live blocks. Then it is idle, or churns: frees and allocates at a steady modest rate, in an order
 * that repeats, or at random, with one size (busy) or several (mixed) at each call site. Says
 * "ready" on stdout when the blocks are there, and ends when stdin does or after SECONDS. Usage:
 * many_sites [BLOCKS [idle|churn|busy|mixed [SECONDS]]]
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/targets/digits.h"

#define DIGITS	  4
#define SITES	  10000u /* 10 to the power of DIGITS */
#define CHURN_MS  10
#define PER_CHURN 200u

enum way { IDLE, CHURN, BUSY, MIXED };

static void *block_make(unsigned i)
{
	void *block = digits_alloc(i % SITES, DIGITS, 16 + i * 31 % 113);

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

/* Which block is next, and where it is allocated. */
static unsigned next_at(enum way way, unsigned at, unsigned blocks)
{
	return way == CHURN ? (at + 7919) % blocks : (unsigned)random() % blocks;
}

static unsigned next_site(enum way way, unsigned at, unsigned i)
{
	return way == CHURN  ? at + i
	       : way == BUSY ? (unsigned)random() % SITES
			     : (unsigned)random();
}

static enum way way_of(const char *name)
{
	return !strcmp(name, "churn")	? CHURN
	       : !strcmp(name, "busy")	? BUSY
	       : !strcmp(name, "mixed") ? MIXED
					: IDLE;
}

int main(int argc, char **argv)
{
	unsigned blocks = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000, at = 0, count = blocks;
	enum way way = argc > 2 ? way_of(argv[2]) : IDLE;
	time_t until = argc > 3 ? time(NULL) + atoi(argv[3]) : 0;
	void **block = calloc(blocks, sizeof(*block));
	int full = 0;

	if (!block || !blocks)
		return 2;
	do {
		/* One place for all allocations: another would be as many call sites again. */
		for (unsigned i = 0; i < count; i++) {
			at = full ? next_at(way, at, blocks) : i;
			if (full)
				free(block[at]);
			block[at] = block_make(full	     ? next_site(way, at, i)
					       : way == BUSY ? i % SITES
							     : i);
		}
		if (!full && write(1, "ready\n", 6) != 6)
			return 2;
		full = 1;
		count = way == IDLE ? 0 : PER_CHURN;
	} while (!over(way == IDLE ? 200 : CHURN_MS, until));
	return 0;
}
