/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads on one processor, of which the one at real-time priority takes it from the other at
 * any instruction: whoever then waits for the other waits for ever. Ends with 5, or 77 where
 * real-time priority is not available.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define WAKES 300

static volatile int over;

static void churn(unsigned count)
{
	void *kept[16] = { NULL };

	for (unsigned i = 0; i < count; i++) {
		free(kept[i % 16]);
		kept[i % 16] = malloc(16 + i % 512);
	}
	for (unsigned i = 0; i < 16; i++)
		free(kept[i]);
}

static void *ordinary(void *unused)
{
	while (!over)
		churn(1000);
	return unused;
}

int main(void)
{
	const struct sched_param high = { .sched_priority = 10 };
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0 ||
		pthread_create(&thread, NULL, ordinary, NULL) != 0)
		return 1;
	if (sched_setscheduler(0, SCHED_FIFO, &high) != 0)
		_exit(77);
	for (int i = 0; i < WAKES; i++) {
		churn(100);
		usleep(100);
	}
	over = 1;
	pthread_join(thread, NULL);
	return 5;
}
