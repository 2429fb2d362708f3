/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads over one segment, for the stress tests. Each test is built twice, plainly and with
 * -fsanitize=thread, where any race on a plain field ends the program with a report.
 */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include <pthread.h>
#include <stdlib.h>
#include "tests/unit/shm_fixture.h"

#define STRESS_THREADS 8u

#if defined(__SANITIZE_THREAD__)
#define STRESS_SLOW 10u
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STRESS_SLOW 10u
#endif
#endif
#ifndef STRESS_SLOW
#define STRESS_SLOW 1u
#endif
/* How often a thread goes round: as many as take a second or two. */
#define STRESS_ROUNDS(n) ((n) / STRESS_SLOW)

struct stress_thread {
	const struct segment *s;
	uint32_t number; /* from 0 */
	uint64_t random;
	uint64_t bad; /* what the thread found wrong */
	void (*body)(struct stress_thread *);
	pthread_barrier_t *start;
};

static inline void *stress_main(void *arg)
{
	struct stress_thread *t = arg;

	pthread_barrier_wait(t->start);
	t->body(t);
	return NULL;
}

/* Runs `body` in STRESS_THREADS threads at once; returns the sum of what they found wrong. */
static inline uint64_t stress_run(const struct segment *s, void (*body)(struct stress_thread *))
{
	struct stress_thread threads[STRESS_THREADS];
	pthread_t ids[STRESS_THREADS];
	pthread_barrier_t start;
	uint64_t bad = 0;

	pthread_barrier_init(&start, NULL, STRESS_THREADS);
	for (uint32_t i = 0; i < STRESS_THREADS; i++) {
		threads[i] = (struct stress_thread){ .s = s,
			.number = i,
			.random = 0x9e3779b97f4a7c15ull * (i + 1),
			.body = body,
			.start = &start };
		CHECK_INT(pthread_create(&ids[i], NULL, stress_main, &threads[i]), 0);
	}
	for (uint32_t i = 0; i < STRESS_THREADS; i++) {
		pthread_join(ids[i], NULL);
		bad += threads[i].bad;
	}
	pthread_barrier_destroy(&start);
	return bad;
}

#endif
