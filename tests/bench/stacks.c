/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with as many call stacks as asked for. Three functions call each other from four places
 * each; every call allocates a block on its way in and frees it on its way out. The calls form a
 * tree of N nodes, and each node is one stack. The pattern says in which order the leaves are
 * visited; from one leaf to the next the program returns to where the two ways part, and no
 * further. Run plain and under each profiler by tests/bench/many_stacks.py, in check mode by
 * tests/e2e/stacks.py. It prints nothing.
 *
 * Usage: stacks PATTERN N ALLOCATIONS [THREADS [DEPTH [COUNTS]]]. Each thread makes all the
 * ALLOCATIONS, in the same order. The calls are DEPTH deep at the leaves if the tree is not deeper.
 * COUNTS is a file for what the program itself counted.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))
#define SITES	 4u /* places in each function that call */
#ifndef FUNCTIONS
#define FUNCTIONS 3u
#endif
#define DEPTH_MAX    4096u
#define THREADS_MAX  64u
#define STACKS_MAX   (1u << 24)
#define BYTES_LEAST  16u
#define BYTES_MOST   112u
#define WINDOWS	     8u /* parts of the tree that the pattern "phases" visits one after the other, */
#define WINDOW_TURNS 4u /* so many times each */
#define WORK_STEPS   105u /* 150 ns: a search does something between two allocations */
#define END	     UINT64_MAX /* no leaf, so that all functions return */

struct walk {
	uint64_t target, leaves, allocations, seed, step;
	uint64_t (*next)(struct walk *w);
	unsigned digits, bits, depth; /* a leaf's number has `digits` digits of `bits` bits */
	unsigned work, result; /* steps of a calculation between two allocations */
	uint8_t shift[DEPTH_MAX + 1]; /* by level: what leaves the digits of a leaf down to there */
};

struct node {
	uint64_t allocations, bytes;
};

/* The program's own count, by level and by number within the level; NULL unless asked for. */
static struct node *nodes;
static uint64_t node_first[DEPTH_MAX + 1];
static uintptr_t call_place[FUNCTIONS][SITES]; /* return addresses */

/* ---- which leaf is next ---- */

static unsigned random_next(struct walk *w)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->seed >> 33);
}

/* All leaves in order, again and again. */
static uint64_t next_cyclic(struct walk *w)
{
	return w->target + 1 < w->leaves ? w->target + 1 : 0;
}

/* Another leaf below a random ancestor: below the next one up with `more` of 64 chances each. */
static uint64_t next_below(struct walk *w, unsigned more)
{
	unsigned levels = 1;
	uint64_t mask, leaf;

	while (levels < w->digits && random_next(w) % 64 < more)
		levels++;
	mask = (UINT64_C(1) << (levels * w->bits)) - 1;
	do
		leaf = (w->target & ~mask) | (random_next(w) & mask);
	while (leaf >= w->leaves);
	return leaf;
}

/* Far away so often that of 10^5 stacks hardly one comes again soon. */
static uint64_t next_random(struct walk *w)
{
	return next_below(w, 48);
}

/* In a binary tree: of 2 x 10^5 stacks one in seven allocations is at one not met lately. */
static uint64_t next_search(struct walk *w)
{
	return next_below(w, 32);
}

/* A part of the tree several times, and then the next part: sets of stacks that change. */
static uint64_t next_phase(struct walk *w)
{
	uint64_t window = (w->leaves + WINDOWS - 1) / WINDOWS, step = w->step++;
	uint64_t leaf = step / (window * WINDOW_TURNS) % WINDOWS * window + step % window;

	return leaf < w->leaves ? leaf : w->leaves - 1;
}

static const struct pattern {
	const char *name;
	uint64_t (*next)(struct walk *w);
	unsigned bits, depth, work;
} patterns[] = {
	{ "cyclic", next_cyclic, 2, 20, 0 }, { "random", next_random, 2, 20, 0 },
	{ "phases", next_phase, 2, 20, 0 }, { "search", next_search, 1, 23, WORK_STEPS },
	{ "fresh", next_cyclic, 2, 20, 0 }, /* for as many allocations as stacks */
};

/* ---- the calls ---- */

static inline size_t node_bytes(unsigned level, uint64_t number)
{
	return BYTES_LEAST + ((number + level) * UINT64_C(0x9e3779b97f4a7c15) >> 40) %
				     (BYTES_MOST - BYTES_LEAST + 1);
}

static NOINLINE void count(unsigned level, uint64_t number)
{
	struct node *n = &nodes[node_first[level] + number];

	__atomic_fetch_add(&n->allocations, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&n->bytes, node_bytes(level, number), __ATOMIC_RELAXED);
}

static inline int is_below(const struct walk *w, unsigned level, uint64_t number)
{
	return w->target >> w->shift[level] == number && w->target != END;
}

typedef void call_function(struct walk *w, unsigned level, uint64_t number, uintptr_t *place);
static call_function call_0;

/* The block is in use and the call is no tail call. Each place differs, so none is merged. */
#define KEEP(block, n) __asm__ volatile("" ::"r"(block), "i"(n) : "memory")

#define CALL(function, site, callee)                                                               \
	case site:                                                                                 \
		callee(w, level + 1, child, &call_place[function][site]);                          \
		KEEP(block, (function)*SITES + (site));                                            \
		break

#define FUNCTION(n, a, b, c, d)                                                                    \
	static NOINLINE void call_##n(                                                             \
		struct walk *w, unsigned level, uint64_t number, uintptr_t *place)                 \
	{                                                                                          \
		char *volatile block = malloc(node_bytes(level, number));                          \
                                                                                                   \
		block[0] = (char)level;                                                            \
		for (unsigned i = 0; i < w->work; i++)                                             \
			w->result = (w->result ^ w->result >> 7) * 0x9e3779b1u;                    \
		w->allocations -= w->allocations > 0;                                              \
		if (nodes) {                                                                       \
			count(level, number);                                                      \
			*place = (uintptr_t)__builtin_return_address(0);                           \
		}                                                                                  \
		if (level == w->depth)                                                             \
			w->target = w->allocations ? w->next(w) : END;                             \
		while (level < w->depth && is_below(w, level, number)) {                           \
			uint64_t child = w->target >> w->shift[level + 1];                         \
                                                                                                   \
			switch (child & ((1u << w->bits) - 1)) {                                   \
				CALL(n, 0, call_##a);                                              \
				CALL(n, 1, call_##b);                                              \
				CALL(n, 2, call_##c);                                              \
				CALL(n, 3, call_##d);                                              \
			}                                                                          \
		}                                                                                  \
		free(block);                                                                       \
	}

#ifdef STACKS_FUNCTIONS
#include STACKS_FUNCTIONS
#else
static call_function call_1, call_2;
FUNCTION(0, 1, 2, 0, 1)
FUNCTION(1, 2, 0, 1, 2)
FUNCTION(2, 0, 1, 2, 0)
#endif

/* ---- threads ---- */

static pthread_barrier_t together;
static uintptr_t outermost;

static NOINLINE void walk(const struct walk *all)
{
	struct walk *w = malloc(sizeof(*w));

	*w = *all;
	while (w->allocations) {
		w->target = w->next(w);
		call_0(w, 0, 0, &outermost);
	}
	free(w);
}

static void *thread_main(void *arg)
{
	pthread_barrier_wait(&together);
	walk(arg);
	return NULL;
}

static void threads_run(struct walk *w, unsigned count)
{
	pthread_t thread[THREADS_MAX];

	pthread_barrier_init(&together, NULL, count);
	for (unsigned i = 0; i < count; i++)
		pthread_create(&thread[i], NULL, thread_main, w);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

/* ---- what the program counted itself ---- */

static uint64_t level_nodes(const struct walk *w, unsigned level)
{
	return ((w->leaves - 1) >> w->shift[level]) + 1;
}

/* By mmap: the counters are none of the blocks that are counted. */
static void nodes_make(const struct walk *w)
{
	uint64_t total = 0;

	for (unsigned level = 0; level <= w->depth; level++) {
		node_first[level] = total;
		total += level_nodes(w, level);
	}
	nodes = mmap(NULL, total * sizeof(*nodes), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/*
 * First the return address of each call, by function and place, and that of the outermost one; then
 * for each stack that allocated its level, its leaves' first digits, allocations and bytes.
 */
static void counts_write(const struct walk *w, const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return;
	for (unsigned i = 0; i < FUNCTIONS * SITES; i++)
		fprintf(f, "place %u %u %" PRIxPTR "\n", i / SITES, i % SITES,
			call_place[i / SITES][i % SITES]);
	fprintf(f, "outermost %" PRIxPTR "\n", outermost);
	for (unsigned level = 0; level <= w->depth; level++)
		for (uint64_t i = 0; i < level_nodes(w, level); i++) {
			const struct node *n = &nodes[node_first[level] + i];

			if (n->allocations)
				fprintf(f, "node %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", level,
					i, n->allocations, n->bytes);
		}
	fclose(f);
}

/* ---- */

/* A tree of `stacks` nodes, the outer ones on one way so that the leaves are deep enough. */
static int prepare(struct walk *w, const char *name, uint64_t stacks, unsigned depth)
{
	const struct pattern *p = NULL;

	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!strcmp(patterns[i].name, name))
			p = &patterns[i];
	if (!p || stacks < 2 || stacks > STACKS_MAX || depth > DEPTH_MAX)
		return -1;
	w->next = p->next;
	w->bits = p->bits;
	w->work = p->work;
	w->leaves = stacks - (stacks >> w->bits);
	while ((w->leaves - 1) >> (w->digits * w->bits))
		w->digits++;
	w->depth = depth ? depth : p->depth;
	if (w->depth < w->digits)
		w->depth = w->digits;
	for (unsigned level = 0; level <= w->depth; level++) {
		unsigned shift = (w->depth - level) * w->bits;

		w->shift[level] = (uint8_t)(shift < 63 ? shift : 63);
	}
	w->result = 1;
	w->target = w->leaves - 1;
	return 0;
}

/* Marks for callgrind: it counts between the two. */
NOINLINE void timed_begin(void);
NOINLINE void timed_end(void);

void timed_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

void timed_end(void)
{
	__asm__ volatile("" ::: "memory");
}

static struct walk work;

int main(int argc, char **argv)
{
	unsigned threads = argc > 4 ? (unsigned)atoi(argv[4]) : 1;

	if (argc < 4 || threads - 1 >= THREADS_MAX ||
		prepare(&work, argv[1], strtoull(argv[2], NULL, 10),
			argc > 5 ? (unsigned)atoi(argv[5]) : 0) != 0)
		return 2;
	work.allocations = strtoull(argv[3], NULL, 10);
	if (argc > 6)
		nodes_make(&work);
	timed_begin();
	if (threads == 1)
		walk(&work);
	else
		threads_run(&work, threads);
	timed_end();
	if (argc > 6)
		counts_write(&work, argv[6]);
	return 0;
}
