/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends in the way asked for while other threads go on allocating, also while destructors run.
 * Usage: exit_busy WAY: return, exit (from a thread), destructor (an exit handler that allocates
 * and leaves by _exit), _exit, quick_exit, abort
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4

static atomic_uint going;

static void *busy(void *arg)
{
	void *volatile held[32] = { NULL };

	for (unsigned i = 0;; i++) {
		going += i == 100; /* all blocks are there */
		free(held[i % 32]);
		held[i % 32] = malloc(1 + i % 500);
	}
	return arg;
}

static void on_exit_leave(void)
{
	void *volatile p = malloc(1234);

	free(p);
	_exit(8);
}

static void *leave(void *arg)
{
	const char *way = arg;

	if (!strcmp(way, "exit"))
		exit(7);
	return arg;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, busy, NULL);
	while (going < THREADS)
		usleep(100);
	if (write(1, "ending\n", 7) != 7)
		return 3;
	if (!strcmp(way, "exit")) {
		pthread_create(&thread, NULL, leave, (void *)way);
		pause();
	}
	if (!strcmp(way, "destructor"))
		atexit(on_exit_leave);
	if (!strcmp(way, "_exit"))
		_exit(9);
	if (!strcmp(way, "quick_exit"))
		quick_exit(10);
	if (!strcmp(way, "abort"))
		abort();
	return 6;
}
