// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pools that report their blocks by Valgrind's client requests, and print their own account, as
 * pooled.c. "valgrind_pools THREADS ROUNDS": each thread has two pools, whose blocks lie mixed in
 * one arena. "valgrind_pools kept": requests amid functions that need every register and what is
 * below their stack pointer.
 */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#define CELLS	    200u
#define CELL	    128u
#define POOLS	    2u
#define THREADS_MAX 16

enum { OF_POOL, MOVED, LIKE, RESIZED, SITES };

struct cell {
	unsigned bytes; /* 0: free */
	unsigned pool; /* POOLS: none, it is MALLOCLIKE */
	int site;
};

struct arena {
	char *start;
	struct cell cell[CELLS];
	char anchor[POOLS][2]; /* which a pool is known by, in turn */
	unsigned turn[POOLS];
	uint32_t dice;
	unsigned rounds;
};

static const char *const names[SITES] = { "of_pool", "moved", "like", "resized" };
static uint64_t made[SITES], made_bytes[SITES], live[SITES], live_bytes[SITES];

static void count(uint64_t *word, uint64_t by)
{
	__atomic_add_fetch(word, by, __ATOMIC_RELAXED);
}

static void *at(struct arena *a, unsigned cell)
{
	return a->start + (size_t)cell * CELL;
}

static void *anchor(struct arena *a, unsigned pool)
{
	return &a->anchor[pool][a->turn[pool]];
}

static void account(struct arena *a, unsigned cell, struct cell c)
{
	struct cell *old = &a->cell[cell];

	if (old->bytes) {
		count(&live[old->site], (uint64_t)-1);
		count(&live_bytes[old->site], -(uint64_t)old->bytes);
	}
	*old = c;
	if (!c.bytes)
		return;
	count(&made[c.site], 1);
	count(&made_bytes[c.site], c.bytes);
	count(&live[c.site], 1);
	count(&live_bytes[c.site], c.bytes);
}

/* ---- the sites: what they call last is the request, of a function that calls nothing ---- */

__attribute__((noinline)) static void of_pool(void *pool, void *p, unsigned bytes)
{
	VALGRIND_MEMPOOL_ALLOC(pool, p, bytes);
}

__attribute__((noinline)) static void moved(void *pool, void *from, void *to, unsigned bytes)
{
	VALGRIND_MEMPOOL_CHANGE(pool, from, to, bytes);
}

__attribute__((noinline)) static void like(void *p, unsigned bytes)
{
	VALGRIND_MALLOCLIKE_BLOCK(p, bytes, 0, 0);
}

__attribute__((noinline)) static void resized(void *p, unsigned before, unsigned bytes)
{
	VALGRIND_RESIZEINPLACE_BLOCK(p, before, bytes, 0);
}

/* ---- what an arena does ---- */

static uint32_t dice(struct arena *a)
{
	a->dice = a->dice * 1664525u + 1013904223u;
	return a->dice >> 16;
}

static void cell_free(struct arena *a, unsigned i)
{
	if (a->cell[i].pool == POOLS)
		VALGRIND_FREELIKE_BLOCK(at(a, i), 0);
	else
		VALGRIND_MEMPOOL_FREE(anchor(a, a->cell[i].pool), at(a, i));
	account(a, i, (struct cell){ 0 });
}

static void cell_fill(struct arena *a, unsigned i)
{
	struct cell c = { 1 + dice(a) % CELL, dice(a) % (POOLS + 1), OF_POOL };

	if (c.pool < POOLS) {
		of_pool(anchor(a, c.pool), at(a, i), c.bytes);
	} else {
		c.site = LIKE;
		like(at(a, i), c.bytes);
	}
	account(a, i, c);
}

/* To another size, or, of a pool, to another place. */
static void cell_change(struct arena *a, unsigned i)
{
	struct cell c = a->cell[i];
	unsigned to = dice(a) % CELLS, before = c.bytes;

	c.bytes = 1 + dice(a) % CELL;
	if (c.pool == POOLS) {
		c.site = RESIZED;
		resized(at(a, i), before, c.bytes);
		account(a, i, c);
	} else if (a->cell[to].bytes == 0) {
		c.site = MOVED;
		moved(anchor(a, c.pool), at(a, i), at(a, to), c.bytes);
		account(a, i, (struct cell){ 0 });
		account(a, to, c);
	}
}

static void pool_end(struct arena *a, unsigned pool)
{
	VALGRIND_DESTROY_MEMPOOL(anchor(a, pool));
	for (unsigned i = 0; i < CELLS; i++)
		if (a->cell[i].pool == pool)
			account(a, i, (struct cell){ 0 });
	VALGRIND_CREATE_MEMPOOL(anchor(a, pool), 0, 0);
}

static void pool_trim(struct arena *a, unsigned pool)
{
	unsigned from = dice(a) % CELLS, cells = dice(a) % (CELLS - from) + 1;

	VALGRIND_MEMPOOL_TRIM(anchor(a, pool), at(a, from), (size_t)cells * CELL);
	for (unsigned i = 0; i < CELLS; i++)
		if (a->cell[i].pool == pool && i - from >= cells)
			account(a, i, (struct cell){ 0 });
}

static void pool_move(struct arena *a, unsigned pool)
{
	void *from = anchor(a, pool);

	a->turn[pool] ^= 1;
	VALGRIND_MOVE_MEMPOOL(from, anchor(a, pool));
}

static void *arena_run(void *arena)
{
	struct arena *a = arena;

	VALGRIND_CREATE_MEMPOOL(anchor(a, 0), 0, 0);
	VALGRIND_CREATE_MEMPOOL(anchor(a, 1), 0, 0);
	for (unsigned i = 0; i < a->rounds; i++) {
		unsigned cell = dice(a) % CELLS, act = dice(a) % 1000;

		if (act < 2)
			pool_end(a, act);
		else if (act < 4)
			pool_trim(a, act - 2);
		else if (act < 6)
			pool_move(a, act - 4);
		else if (a->cell[cell].bytes == 0)
			cell_fill(a, cell);
		else if (act < 500)
			cell_free(a, cell);
		else
			cell_change(a, cell);
	}
	return NULL;
}

static void run(unsigned threads, unsigned rounds)
{
	static struct arena arena[THREADS_MAX];
	pthread_t thread[THREADS_MAX];

	for (unsigned i = 0; i < threads && i < THREADS_MAX; i++) {
		arena[i] = (struct arena){
			.start = malloc(CELLS * CELL), .dice = i + 1, .rounds = rounds
		};
		pthread_create(&thread[i], NULL, arena_run, &arena[i]);
	}
	for (unsigned i = 0; i < threads && i < THREADS_MAX; i++)
		pthread_join(thread[i], NULL);
}

/* ---- what a request must leave as it is ---- */

/* All general registers that it does not name, and its result. */
__attribute__((noinline)) static int registers_kept(char *p)
{
	const uint64_t arg[6] = { 0x1301, (uintptr_t)p, 40 };
	register uint64_t r8 __asm__("r8") = 8, r9 __asm__("r9") = 9, r10 __asm__("r10") = 10,
			     r11 __asm__("r11") = 11;
	uint64_t rax = (uintptr_t)arg, rcx = 1, rdx = 2, rsi = 4, rdi = 5;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+a"(rax), "+c"(rcx), "+d"(rdx), "+S"(rsi), "+D"(rdi), "+r"(r8),
			 "+r"(r9), "+r"(r10), "+r"(r11)
			 :
			 : "cc", "memory");
	return rax == (uintptr_t)arg && rcx == 1 && rdx == 2 && rsi == 4 && rdi == 5 && r8 == 8 &&
	       r9 == 9 && r10 == 10 && r11 == 11;
}

/* Below the stack pointer of a function that calls nothing: its words, the request's among them. */
__attribute__((noinline)) static int words_kept(char *p)
{
	volatile uint64_t word[14];

	for (unsigned i = 0; i < 14; i++)
		word[i] = i + 100;
	VALGRIND_FREELIKE_BLOCK(p, 0);
	for (unsigned i = 0; i < 14; i++)
		if (word[i] != i + 100)
			return 0;
	return 1;
}

__attribute__((noinline, target("avx2"))) static int vectors_kept(char *p, const uint32_t *from)
{
	__m256i a = _mm256_loadu_si256((const void *)from),
		b = _mm256_loadu_si256((const void *)(from + 8)), c = a + b, d = a - b, sum;
	uint32_t out[8];

	VALGRIND_MALLOCLIKE_BLOCK(p, 24, 0, 0);
	sum = a + b + c + d; /* 3a + b */
	_mm256_storeu_si256((void *)out, sum);
	for (unsigned i = 0; i < 8; i++)
		if (out[i] != 3 * from[i] + from[i + 8])
			return 0;
	return 1;
}

static int kept(void)
{
	static const uint32_t from[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	char *p = malloc(100);
	int good = registers_kept(p);

	for (unsigned i = 0; i < 1000; i++)
		good = good && words_kept(p) && registers_kept(p);
	if (__builtin_cpu_supports("avx2"))
		good = good && vectors_kept(p + 50, from);
	return good && RUNNING_ON_VALGRIND == 0 ? 0 : 3;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return kept();
	run((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
	for (int i = 0; i < SITES; i++)
		printf("%s %lu %lu %lu %lu\n", names[i], (unsigned long)made[i],
			(unsigned long)made_bytes[i], (unsigned long)live[i],
			(unsigned long)live_bytes[i]);
	return 0;
}
