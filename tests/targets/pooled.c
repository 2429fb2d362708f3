/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An arena that reports its blocks through heaptop.h, and prints its own account, a line for each
 * site: name, blocks and bytes ever, blocks and bytes now. "pooled THREADS ROUNDS": each thread has
 * an arena, in one block of the heap, and allocates, frees and resets. "pooled odd": calls that
 * name no block, blocks of odd sizes, and others that overlap; "pooled paused": pauses meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/heaptop.h"

#define ARENA_BYTES 65536u
#define BLOCKS_MAX  256u
#define THREADS_MAX 16

enum { SMALL, LARGE, SITES };

struct block {
	char *at; /* NULL: free */
	size_t bytes;
	int site;
};

struct arena {
	char *start;
	size_t used;
	struct block block[BLOCKS_MAX];
	unsigned blocks;
	uint32_t dice;
	unsigned rounds;
};

static const char *const names[SITES] = { "pooled_small", "pooled_large" };
static uint64_t made[SITES], made_bytes[SITES], live[SITES], live_bytes[SITES];

static void count(uint64_t *word, uint64_t by)
{
	__atomic_add_fetch(word, by, __ATOMIC_RELAXED);
}

static char *arena_take(struct arena *a, size_t bytes, int site)
{
	char *p = a->start + a->used;

	a->block[a->blocks++] = (struct block){ p, bytes, site };
	a->used += bytes;
	count(&made[site], 1);
	count(&made_bytes[site], bytes);
	count(&live[site], 1);
	count(&live_bytes[site], bytes);
	return p;
}

__attribute__((noinline)) static void pooled_small(struct arena *a, size_t bytes)
{
	heaptop_block_alloc(arena_take(a, bytes, SMALL), bytes);
}

__attribute__((noinline)) static void pooled_large(struct arena *a, size_t bytes)
{
	heaptop_block_alloc(arena_take(a, bytes, LARGE), bytes);
}

static void forget(struct block *b)
{
	if (b->at) {
		count(&live[b->site], (uint64_t)-1);
		count(&live_bytes[b->site], -b->bytes);
	}
	b->at = NULL;
}

static void arena_free(struct block *b)
{
	heaptop_block_free(b->at); /* also NULL */
	forget(b);
}

static void arena_reset(struct arena *a)
{
	heaptop_pool_reset(a->start, ARENA_BYTES);
	for (unsigned i = 0; i < a->blocks; i++)
		forget(&a->block[i]);
	a->used = a->blocks = 0;
}

static uint32_t dice(struct arena *a)
{
	a->dice = a->dice * 1664525u + 1013904223u;
	return a->dice >> 16;
}

static void *arena_run(void *arena)
{
	struct arena *a = arena;

	for (unsigned i = 0; i < a->rounds; i++) {
		if (a->blocks == BLOCKS_MAX || dice(a) % 500 == 0)
			arena_reset(a);
		if (a->blocks > 0 && dice(a) % 3 == 0)
			arena_free(&a->block[dice(a) % a->blocks]);
		else if (dice(a) % 4)
			pooled_small(a, 1 + dice(a) % 40);
		else
			pooled_large(a, 200 + dice(a) % 50);
	}
	return NULL;
}

static void run(unsigned threads, unsigned rounds)
{
	static struct arena arena[THREADS_MAX];
	pthread_t thread[THREADS_MAX];

	for (unsigned i = 0; i < threads && i < THREADS_MAX; i++) {
		arena[i] = (struct arena){
			.start = malloc(ARENA_BYTES), .dice = i + 1, .rounds = rounds
		};
		pthread_create(&thread[i], NULL, arena_run, &arena[i]);
	}
	for (unsigned i = 0; i < threads && i < THREADS_MAX; i++)
		pthread_join(thread[i], NULL);
}

static void odd(void)
{
	static struct arena a;

	a.start = malloc(ARENA_BYTES);
	errno = 77;
	heaptop_block_free(&a);
	heaptop_block_free(a.start);
	heaptop_block_alloc(NULL, 10);
	heaptop_block_alloc((void *)UINTPTR_MAX, 10);
	heaptop_block_alloc(a.start, SIZE_MAX);
	heaptop_pool_reset(NULL, 0);
	heaptop_pool_reset(&a, SIZE_MAX);
	pooled_small(&a, 1);
	pooled_small(&a, 40);
	heaptop_block_free(a.block[1].at + 3); /* inside */
	arena_free(&a.block[0]);
	heaptop_block_free(a.start); /* a second time */
	forget(&a.block[1]);
	a.used = 0;
	pooled_large(&a, 300); /* over the one that was not freed */
	if (errno != 77)
		exit(3);
}

static void paused(void)
{
	static struct arena a;

	a.start = malloc(ARENA_BYTES);
	heaptop_pause();
	heaptop_block_alloc(a.start, 70);
	heaptop_block_alloc(a.start + 70, 30);
	heaptop_block_free(a.start);
	heaptop_resume();
	a.used = 100;
	pooled_small(&a, 5);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		run((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
	else if (argc > 1 && strcmp(argv[1], "odd") == 0)
		odd();
	else
		paused();
	for (int i = 0; i < SITES; i++)
		printf("%s %lu %lu %lu %lu\n", names[i], (unsigned long)made[i],
			(unsigned long)made_bytes[i], (unsigned long)live[i],
			(unsigned long)live_bytes[i]);
	return 0;
}
