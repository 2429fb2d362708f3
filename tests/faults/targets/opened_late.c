/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens a library that is meant to be preloaded, allocates through it in a thread, and closes it
 * before the thread ends. Usage: opened_late LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include "tests/faults/targets/witness.h"

static pthread_barrier_t barrier;
static void *(*their_malloc)(size_t);
static void (*their_free)(void *);

static void *run(void *arg)
{
	their_free(their_malloc(100));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	free(malloc(100));
	return arg;
}

static void find(void *handle, const char *name, void *where)
{
	void *symbol = dlsym(handle, name);

	memcpy(where, &symbol, sizeof(symbol));
	witness_need(symbol != NULL, name);
}

int main(int argc, char **argv)
{
	void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t t;

	witness_need(handle != NULL, "the library cannot be loaded");
	find(handle, "malloc", &their_malloc);
	find(handle, "free", &their_free);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, run, NULL);
	pthread_barrier_wait(&barrier);
	dlclose(handle);
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
	puts("done");
	return 0;
}
