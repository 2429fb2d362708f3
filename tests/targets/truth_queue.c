/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: four producers that only allocate, four consumers that only free, a bounded queue
 * between them. What is left in the queue at the end stays alive. Usage: truth_queue [BLOCKS]
 */
#include <pthread.h>
#include "tests/targets/truth.h"

#define QUEUE	  256u
#define PRODUCERS 4u
#define CONSUMERS 4u
#define LEFT	  100u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct truth_block queue[QUEUE];
static unsigned queued, to_take, per_producer;

static NOINLINE void *site_produce_small(size_t n)
{
	return truth_got(0, malloc(n), n);
}

static NOINLINE void *site_produce_large(size_t n)
{
	return truth_got(1, calloc(1, n), n);
}

static void *produce(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < per_producer; i++) {
		unsigned site = truth_dice(&seed, 8) == 0;
		size_t n = site ? 5000 + truth_dice(&seed, 90000) : 1 + truth_dice(&seed, 500);
		void *at = site ? site_produce_large(n) : site_produce_small(n);

		pthread_mutex_lock(&lock);
		while (queued == QUEUE)
			pthread_cond_wait(&changed, &lock);
		queue[queued++] = (struct truth_block){ at, n, site };
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *consume(void *arg)
{
	struct truth_block b;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (!queued && to_take)
			pthread_cond_wait(&changed, &lock);
		if (!to_take)
			break;
		to_take--;
		b = queue[--queued];
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		truth_block_free(&b);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned blocks = argc > 1 ? (unsigned)atoi(argv[1]) : 200000;
	pthread_t thread[PRODUCERS + CONSUMERS];

	per_producer = blocks / PRODUCERS;
	to_take = per_producer * PRODUCERS - LEFT;
	truth_name(0, "site_produce_small", "malloc");
	truth_name(1, "site_produce_large", "calloc");
	for (uintptr_t i = 0; i < PRODUCERS + CONSUMERS; i++)
		pthread_create(
			&thread[i], NULL, i < PRODUCERS ? produce : consume, (void *)(i + 1));
	for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
