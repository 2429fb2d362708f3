/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More call stacks than a small segment has room for: STACKS of 10^5 (five digits, ten functions
 * each), in a scattered order; one block in fifty stays. Then REPEATS rounds over the last 64 of
 * them, which find no room. Each of THREADS does all of it. Writes what it allocated to stdout:
 * blocks, bytes, and what of both is left. Usage: full_tree STACKS REPEATS THREADS [abort]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/targets/digits.h"

#define DIGITS	    5
#define STACKS_MOST 100000u
#define STEP	    7919u /* without a factor in common with STACKS_MOST */
#define LAST	    64u
#define THREADS_MAX 16u
#define KEEP	    50u

struct counts {
	unsigned long blocks, bytes, left_blocks, left_bytes;
};

static unsigned stacks, repeats;

static void visit(unsigned i, struct counts *c)
{
	unsigned number = (unsigned)((unsigned long)i * STEP % STACKS_MOST);
	size_t bytes = 16 + i % 97;
	void *block = digits_alloc(number, DIGITS, bytes);

	if (!block)
		abort();
	bytes += number / (STACKS_MOST / 10); /* the innermost function's number */
	c->blocks++;
	c->bytes += bytes;
	if (i % KEEP == 0) {
		c->left_blocks++;
		c->left_bytes += bytes;
	} else {
		free(block);
	}
}

static void *visit_all(void *counts)
{
	unsigned first = stacks > LAST ? stacks - LAST : 0;

	for (unsigned i = 0; i < stacks; i++)
		visit(i, counts);
	for (unsigned r = 0; r < repeats; r++)
		for (unsigned i = first; i < stacks; i++)
			visit(i, counts);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct counts of[THREADS_MAX];
	struct counts all = { 0 };
	pthread_t thread[THREADS_MAX];
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	char line[128];

	if (threads == 0 || threads > THREADS_MAX)
		return 2;
	stacks = (unsigned)atoi(argv[1]);
	repeats = (unsigned)atoi(argv[2]);
	for (unsigned i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, visit_all, &of[i]) != 0)
			return 1;
	visit_all(&of[0]);
	for (unsigned i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(thread[i], NULL);
		all.blocks += of[i].blocks;
		all.bytes += of[i].bytes;
		all.left_blocks += of[i].left_blocks;
		all.left_bytes += of[i].left_bytes;
	}
	snprintf(line, sizeof(line), "%lu %lu %lu %lu\n", all.blocks, all.bytes, all.left_blocks,
		all.left_bytes);
	if (write(1, line, strlen(line)) < 0)
		return 1;
	if (argc > 4)
		abort();
	return 0;
}
