/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Passes blocks to and fro between the program and a library whose malloc and free are other ones
 * (tests/faults/targets/plugin/deep.c). With "bound" these are libc's own, because the library is
 * loaded with RTLD_DEEPBIND: blocks may be freed on either side. With "threads" it is loaded so
 * beside another thread. With "namespace" they are a second libc's; each side frees its own, and a
 * few of the other's, which both libcs keep in a cache. Prints how many blocks came back at the
 * address of one that the other side had freed. Usage:
 * deep_binding bound|threads|namespace FILE
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include "tests/faults/targets/witness.h"

#define BLOCKS 100
#define FEW    5

static void *(*deep_malloc)(size_t);
static void (*deep_free)(void *);
static void (*deep_call)(void (*)(void));

static void find(void *handle, const char *name, void *where)
{
	void *symbol = dlsym(handle, name);

	witness_need(symbol != NULL, name);
	memcpy(where, &symbol, sizeof(symbol));
}

static NOINLINE void *site_program(size_t n)
{
	return malloc(n);
}

static NOINLINE void *site_again(size_t n)
{
	return malloc(n);
}

/* Blocks of the program's, freed where nobody sees; their addresses come back. */
static int freed_unseen(void)
{
	void *block[BLOCKS], *again[BLOCKS];
	int same = 0;

	for (int i = 0; i < BLOCKS; i++)
		block[i] = site_program(500);
	for (int i = 0; i < BLOCKS; i++) {
		deep_free(block[i]);
		again[i] = site_again(500);
		same += again[i] == block[i];
	}
	for (int i = 0; i < BLOCKS; i++)
		free(again[i]);
	return same;
}

/* Blocks that nobody saw come, freed by the program. */
static void made_unseen(void)
{
	void *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		block[i] = deep_malloc(600);
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
}

/* Few enough for the cache that a thread has of each libc: there nobody looks where they are from.
 */
static void freed_across(void)
{
	void *theirs[FEW], *ours[FEW];

	for (int i = 0; i < FEW; i++) {
		theirs[i] = deep_malloc(200);
		ours[i] = site_program(200);
	}
	for (int i = 0; i < FEW; i++) {
		free(theirs[i]);
		deep_free(ours[i]);
	}
	for (int i = 0; i < FEW; i++) {
		theirs[i] = deep_malloc(200); /* those of ours */
		ours[i] = site_again(200); /* those of theirs */
	}
	for (int i = 0; i < FEW; i++) {
		deep_free(theirs[i]);
		free(ours[i]);
	}
}

static NOINLINE void site_called_back(void)
{
	free(malloc(77));
	KEEP_FRAME();
}

static sem_t is_loaded;

static void *wait_for_it(void *arg)
{
	while (sem_wait(&is_loaded) != 0)
		;
	return arg;
}

int main(int argc, char **argv)
{
	int bound = argc > 2 && strcmp(argv[1], "namespace") != 0;
	int threads = argc > 2 && !strcmp(argv[1], "threads");
	pthread_t other;
	void *handle;

	if (argc < 3)
		return 2;
	sem_init(&is_loaded, 0, 0);
	if (threads)
		witness_need(pthread_create(&other, NULL, wait_for_it, NULL) == 0, "no thread");
	handle = bound ? dlopen(argv[2], RTLD_NOW | RTLD_DEEPBIND)
		       : dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW);
	witness_need(handle != NULL, "the library cannot be loaded");
	sem_post(&is_loaded);
	if (threads)
		pthread_join(other, NULL);
	find(handle, "deep_malloc", &deep_malloc);
	find(handle, "deep_free", &deep_free);
	find(handle, "deep_call", &deep_call);
	for (int i = 0; i < BLOCKS; i++) {
		deep_free(deep_malloc(400));
		deep_call(site_called_back);
	}
	if (bound) {
		printf("%d blocks came back\n", freed_unseen());
		made_unseen();
	} else {
		freed_across();
	}
	witness_print("end");
	return 0;
}
