/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one malloc/free pair costs, as two numbers on stdout: nanoseconds of wall time and of
 * processor time per pair (per allocation for "grow"). Run plain and under each profiler by
 * tests/bench/bench.py, under callgrind by tests/bench/instructions.py, and built three times: as a
 * normal program, with frame pointers, and with operator new (rules.mk).
 *
 * Usage: micro PATTERN DEPTH [PAIRS [NUMBER]]. Depth counts the program's own frames, main
 * included. Everything is done twice at the same place of the code, first untimed: a stack is known
 * then, and start-up costs nobody anything. "ignored" acts as a viewer's --ignore in between. It
 * ends without destructors, so that its segment stays for inspection.
 */
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shm/layout.h"

#define NOINLINE      __attribute__((noinline))
#define KEEP()	      __asm__ volatile("" ::: "memory") /* also: no tail call */
#define WARM_PAIRS    20480u
#define PAIR_BYTES    100u
#define THREADS_MAX   64u
#define DEPTH_MAX     1000u
#define STACKS_MAX    256u
#define VARIANTS      16u /* functions to choose from at each level: two levels make 256 stacks */
#define QUEUE_BATCH   1024u /* pairs and warm-up are a multiple of all batches */
#define QUEUE_BATCHES 4u
#define FIXED_FRAMES  2u /* main and measured */
#define BYTES_LEAST   16u
#define BYTES_MOST    112u /* so 64 in the mean */

#ifdef BENCH_NEW
void *_Znwm(size_t bytes);
void _ZdlPv(void *block);
#define ALLOCATE _Znwm
#define RELEASE	 _ZdlPv
#ifdef BENCH_OWN_NEW
/* As in a program that the C++ library is linked into. */
NOINLINE void *_Znwm(size_t bytes)
{
	return malloc(bytes);
}

NOINLINE void _ZdlPv(void *block)
{
	free(block);
}
#endif
#else
#define ALLOCATE malloc
#define RELEASE	 free
#endif

struct work;
typedef void loop_function(struct work *w);

struct work {
	loop_function *loop;
	unsigned pairs, changing, stacks;
	unsigned number; /* of threads, or of blocks in the working set */
	unsigned processor; /* of a thread */
	unsigned outer; /* frames between main and the measured one */
	int timed; /* the last time */
	int ignored; /* by a viewer, as it seems */
	double wall_ns, cpu_ns;
	void **block;
	uint8_t way[STACKS_MAX][DEPTH_MAX];
};

static double clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline unsigned random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33);
}

static inline size_t random_bytes(uint64_t *seed)
{
	return BYTES_LEAST + random_next(seed) % (BYTES_MOST - BYTES_LEAST + 1);
}

/* ---- frames ---- */

/* Functions that differ only in their address; `way` says which one comes next. */
typedef void *descend_function(const uint8_t *way, unsigned left);
static descend_function *const variant[VARIANTS];

#define VARIANT(n)                                                                                 \
	static NOINLINE void *variant_##n(const uint8_t *way, unsigned left)                       \
	{                                                                                          \
		void *block = left ? variant[*way](way + 1, left - 1) : ALLOCATE(PAIR_BYTES);      \
		__asm__ volatile("" ::"i"(n) : "memory");                                          \
		return block;                                                                      \
	}
VARIANT(0)
VARIANT(1)
VARIANT(2)
VARIANT(3)
VARIANT(4)
VARIANT(5)
VARIANT(6)
VARIANT(7)
VARIANT(8)
VARIANT(9)
VARIANT(10)
VARIANT(11)
VARIANT(12)
VARIANT(13)
VARIANT(14)
VARIANT(15)

static descend_function *const variant[VARIANTS] = { variant_0, variant_1, variant_2, variant_3,
	variant_4, variant_5, variant_6, variant_7, variant_8, variant_9, variant_10, variant_11,
	variant_12, variant_13, variant_14, variant_15 };

/*
 * The ways of `stacks` stacks through `changing` frames: the first frames spell the stack's number,
 * in base 4 or 16; what follows is as good as random.
 */
static void ways_make(struct work *w)
{
	unsigned functions = w->stacks == 64 ? 4 : VARIANTS, digits = w->stacks == 64 ? 3 : 2;
	uint64_t seed = 1;

	for (unsigned stack = 0; stack < w->stacks; stack++) {
		unsigned rest = stack;

		for (unsigned i = 0; i < w->changing; i++, rest /= functions)
			w->way[stack][i] =
				(uint8_t)((i < digits ? rest : random_next(&seed)) % functions);
	}
}

/* ---- what is measured ---- */

static void pairs_same(struct work *w)
{
	for (unsigned i = 0; i < w->pairs; i++) {
		void *volatile block = ALLOCATE(PAIR_BYTES);

		RELEASE(block);
	}
}

static void pairs_changing(struct work *w)
{
	uint64_t seed = 1;

	for (unsigned i = 0; i < w->pairs; i++) {
		const uint8_t *way = w->way[random_next(&seed) % w->stacks];

		RELEASE(variant[*way](way + 1, w->changing - 1));
	}
}

/* Any block of the set is replaced by another; the first time each in its turn. */
static void working_set(struct work *w)
{
	uint64_t seed = 1;

	for (unsigned i = 0; i < w->pairs; i++) {
		unsigned slot = (w->timed ? random_next(&seed) : i) % w->number;

		RELEASE(w->block[slot]);
		w->block[slot] = ALLOCATE(random_bytes(&seed));
	}
}

static void grow(struct work *w)
{
	uint64_t seed = 1;

	for (unsigned i = 0; i < w->pairs; i++) {
		void *volatile block = ALLOCATE(random_bytes(&seed));

		(void)block;
	}
}

/* Marks for callgrind: it counts between the two. */
NOINLINE void timed_begin(void);
NOINLINE void timed_end(void);

void timed_begin(void)
{
	KEEP();
}

void timed_end(void)
{
	KEEP();
}

static NOINLINE void measured(struct work *w)
{
	double wall, cpu;

	if (w->timed)
		timed_begin();
	wall = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	w->loop(w);
	w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
	if (w->timed)
		timed_end();
}

static NOINLINE void under(unsigned frames, struct work *w)
{
	if (frames > 1)
		under(frames - 1, w);
	else
		measured(w);
	KEEP();
}

/* Does what a viewer does that ignores all sites by their innermost frame. */
static void sites_ignore(void)
{
	uint32_t by = 1, sites = 0, round = 2;
	struct ht_region region = { 0 };
	glob_t found;
	int fd = glob("heaptop-*", 0, NULL, &found) == 0 ? open(found.gl_pathv[0], O_RDWR) : -1;

	if (fd < 0 ||
		pread(fd, &region, sizeof(region),
			offsetof(struct ht_header, region[HT_REGION_SITES])) < 0 ||
		pread(fd, &sites, sizeof(sites), offsetof(struct ht_header, sites)) < 0)
		abort();
	for (uint32_t i = 1; i < sites; i++)
		if (pwrite(fd, &by, sizeof(by),
			    (off_t)(region.offset + i * sizeof(struct ht_site) +
				    offsetof(struct ht_site, ignored))) < 0)
			abort();
	if (pwrite(fd, &round, sizeof(round), offsetof(struct ht_header, ignore_round)) < 0)
		abort();
	close(fd);
	globfree(&found);
}

static inline void both(struct work *w, pthread_barrier_t *together)
{
	unsigned pairs = w->pairs, warm = w->number > WARM_PAIRS ? w->number : WARM_PAIRS;

	for (int pass = w->ignored ? 0 : 1; pass < 3; pass++) {
		w->timed = pass == 2;
		if (w->ignored && pass == 1)
			sites_ignore();
		w->pairs = w->timed ? pairs : warm;
		if (together)
			pthread_barrier_wait(together);
		if (w->outer)
			under(w->outer, w);
		else
			measured(w);
		KEEP();
	}
}

/* ---- threads ---- */

static pthread_barrier_t together;

/* The n-th processor that we may use. Left alone, threads that start together share one for a
 * while, and a run is over before they part. */
static void processor_take(unsigned n)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	n %= (unsigned)CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && n-- == 0)
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *thread_main(void *arg)
{
	struct work *w = arg;

	processor_take(w->processor);
	both(w, &together);
	return NULL;
}

/* The mean processor time of all threads, and the longest of their wall times. */
static void threads_run(struct work *w)
{
	struct work *own = calloc(w->number, sizeof(*own));
	pthread_t thread[THREADS_MAX];

	pthread_barrier_init(&together, NULL, w->number);
	for (unsigned i = 0; i < w->number; i++) {
		own[i] = *w;
		own[i].number = 0;
		own[i].processor = i;
		pthread_create(&thread[i], NULL, thread_main, &own[i]);
	}
	for (unsigned i = 0; i < w->number; i++) {
		pthread_join(thread[i], NULL);
		w->cpu_ns += own[i].cpu_ns / w->number;
		w->wall_ns = own[i].wall_ns > w->wall_ns ? own[i].wall_ns : w->wall_ns;
	}
}

/*
 * One thread allocates, another frees. They hand over QUEUE_BATCH blocks at a time and sleep when
 * they must wait, so what is left of the processor time is malloc and free.
 */
static struct {
	void *block[QUEUE_BATCHES][QUEUE_BATCH];
	sem_t full, empty;
} queue;

static void produce(struct work *w)
{
	for (unsigned batch = 0; batch < w->pairs / QUEUE_BATCH; batch++) {
		sem_wait(&queue.empty);
		for (unsigned i = 0; i < QUEUE_BATCH; i++)
			queue.block[batch % QUEUE_BATCHES][i] = ALLOCATE(PAIR_BYTES);
		sem_post(&queue.full);
	}
}

static void consume(struct work *w)
{
	for (unsigned batch = 0; batch < w->pairs / QUEUE_BATCH; batch++) {
		sem_wait(&queue.full);
		for (unsigned i = 0; i < QUEUE_BATCH; i++)
			RELEASE(queue.block[batch % QUEUE_BATCHES][i]);
		sem_post(&queue.empty);
	}
}

static void queue_run(struct work *w)
{
	struct work *consumer = calloc(1, sizeof(*consumer));
	pthread_t thread;

	sem_init(&queue.full, 0, 0);
	sem_init(&queue.empty, 0, QUEUE_BATCHES);
	*consumer = *w;
	consumer->loop = consume;
	consumer->processor = 1;
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&thread, NULL, thread_main, consumer);
	processor_take(0);
	both(w, &together);
	pthread_join(thread, NULL);
	w->cpu_ns += consumer->cpu_ns;
}

/* ---- */

static void *parked(void *arg)
{
	pause();
	return arg;
}

static void alone_run(struct work *w)
{
	both(w, NULL);
}

static void ignored_run(struct work *w)
{
	w->ignored = 1;
	both(w, NULL);
}

/* The same in a process that has a second thread, which does nothing. */
static void not_alone_run(struct work *w)
{
	pthread_t thread;

	pthread_create(&thread, NULL, parked, NULL);
	both(w, NULL);
}

enum changes { NOTHING, INNER_3, INNER_HALF, ALL };

static const struct pattern {
	const char *name;
	loop_function *loop;
	void (*run)(struct work *w);
	enum changes changes;
	unsigned stacks, pairs, number;
} patterns[] = {
	{ "same", pairs_same, alone_run, NOTHING, 1, 1000000, 0 },
	{ "same-not-alone", pairs_same, not_alone_run, NOTHING, 1, 1000000, 0 },
	{ "ignored", pairs_same, ignored_run, NOTHING, 1, 1000000, 0 },
	{ "ignored-3", pairs_changing, ignored_run, INNER_3, 64, 1000000, 0 },
	{ "inner-3", pairs_changing, alone_run, INNER_3, 64, 1000000, 0 },
	{ "inner-half", pairs_changing, alone_run, INNER_HALF, 256, 1000000, 0 },
	{ "all", pairs_changing, alone_run, ALL, 256, 1000000, 0 },
	{ "set", working_set, alone_run, NOTHING, 1, 1000000, 1000 },
	{ "grow", grow, alone_run, NOTHING, 1, 1000000, 0 },
	{ "threads", pairs_same, threads_run, NOTHING, 1, 1000000, 1 },
	{ "queue", produce, queue_run, NOTHING, 1, 655360, 0 },
};

static const struct pattern *pattern_find(const char *name)
{
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!strcmp(patterns[i].name, name))
			return &patterns[i];
	return NULL;
}

static unsigned frames_changing(enum changes changes, unsigned depth)
{
	const unsigned frames[] = {
		[NOTHING] = 0, [INNER_3] = 3, [INNER_HALF] = depth / 2, [ALL] = depth - FIXED_FRAMES
	};

	return frames[changes];
}

static int prepare(struct work *w, const struct pattern *p, unsigned depth)
{
	w->changing = frames_changing(p->changes, depth);
	if (depth > DEPTH_MAX || depth < FIXED_FRAMES + w->changing || w->number > 1u << 24 ||
		w->pairs == 0 ||
		(p->run == queue_run && w->pairs % (QUEUE_BATCH * QUEUE_BATCHES)) ||
		(p->run == threads_run && w->number - 1 >= THREADS_MAX))
		return -1;
	w->loop = p->loop;
	w->stacks = p->stacks;
	w->outer = depth - FIXED_FRAMES - w->changing;
	w->block = calloc(w->number + 1, sizeof(*w->block));
	ways_make(w);
	return 0;
}

static struct work work;

int main(int argc, char **argv)
{
	const struct pattern *p = argc > 2 ? pattern_find(argv[1]) : NULL;

	if (!p)
		return 2;
	work.pairs = argc > 3 && atoi(argv[3]) ? (unsigned)atoi(argv[3]) : p->pairs;
	work.number = argc > 4 ? (unsigned)atoi(argv[4]) : p->number;
	if (prepare(&work, p, (unsigned)atoi(argv[2])) != 0)
		return 2;
	p->run(&work);
	printf("%.3f %.3f\n", work.wall_ns / work.pairs, work.cpu_ns / work.pairs);
	fflush(stdout);
	syscall(SYS_exit_group, 0);
}
