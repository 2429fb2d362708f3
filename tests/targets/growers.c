/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites that all have risen, and of which one grows for ever. A line "N" on standard input makes N
 * rounds, and is answered when they are done. A round of
 *
 *   leak       loses the block of the round before
 *   queue      takes in more than it takes out: the oldest go, and it gets fuller
 *   lru        is a cache: it fills for LRU_ROUNDS rounds, and then evicts the least used
 *   warm_up    is needed at the start only
 *   sawtooth   is emptied every TOOTH rounds
 *   turn       is freed at once
 * and `step`, a large block, is allocated before the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK	    200u
#define ROUNDS_MAX  100000u
#define WARM_ROUNDS 60u
#define LRU_ROUNDS  80u
#define TOOTH	    20u

/* volatile: what is never read is written all the same, and points to its block. */
static void *volatile leaked, *volatile warm[WARM_ROUNDS], *volatile stepped, *volatile turned;
static void *lru[LRU_ROUNDS], *tooth[TOOTH], *queued[2 * ROUNDS_MAX];
static unsigned rounds, queue_first, queue_last;

__attribute__((noinline)) void *leak(void)
{
	return calloc(1, BLOCK);
}

__attribute__((noinline)) void *queue(void)
{
	return calloc(1, 4 * BLOCK);
}

__attribute__((noinline)) void *cached(void)
{
	return calloc(1, 5 * BLOCK);
}

__attribute__((noinline)) void *warm_up(void)
{
	return calloc(1, 6 * BLOCK);
}

__attribute__((noinline)) void *sawtooth(void)
{
	return calloc(1, 7 * BLOCK);
}

__attribute__((noinline)) void *step(void)
{
	return calloc(10000, BLOCK);
}

__attribute__((noinline)) void *turn(void)
{
	return calloc(8, BLOCK);
}

static __attribute__((noinline)) void queue_put(volatile int n)
{
	while (n-- > 0)
		queued[queue_last++] = queue();
}

/* Two in; and out two, or, every other time, one. */
static void queue_round(void)
{
	unsigned out = rounds < LRU_ROUNDS / 2 ? 0 : 1 + rounds % 2;

	queue_put(2);
	for (; out > 0; out--) {
		free(queued[queue_first]);
		queued[queue_first++] = NULL; /* what is there next is lost if it is lost */
	}
}

static void round_make(void)
{
	unsigned at = rounds % LRU_ROUNDS;

	leaked = leak();
	queue_round();
	free(lru[at]);
	lru[at] = cached();
	if (rounds < WARM_ROUNDS)
		warm[rounds] = warm_up();
	if (rounds % TOOTH == 0)
		for (unsigned i = 0; i < TOOTH; i++) {
			free(tooth[i]);
			tooth[i] = NULL;
		}
	tooth[rounds % TOOTH] = sawtooth();
	free(turned = turn());
	rounds++;
}

int main(void)
{
	char line[32];

	stepped = step();
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int n = atoi(line); n > 0 && rounds < ROUNDS_MAX; n--)
			round_make();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
