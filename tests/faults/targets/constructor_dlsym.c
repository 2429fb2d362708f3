/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A constructor asks for names that are not there, by dlsym and dlopen, as the first things that
 * the program does: each failure allocates its message, before and after the first block of the
 * program's own. Threads of the constructor do the same at once.
 */
#include <dlfcn.h>
#include <pthread.h>
#include "tests/faults/targets/witness.h"

#define THREADS 4

static void *ask(void *arg)
{
	for (int i = 0; i < 100; i++) {
		witness_need(!dlsym(RTLD_DEFAULT, "no_such_name_anywhere"), "a name is there");
		witness_need(dlerror() != NULL, "no message");
		witness_need(!dlsym(RTLD_NEXT, "no_such_name_anywhere"), "a next name is there");
		witness_need(!dlopen("no-such-library.so", RTLD_NOW), "a library is there");
		free(malloc(100));
		witness_need(dlerror() != NULL, "no message of dlopen");
	}
	return arg;
}

__attribute__((constructor)) static void first(void)
{
	pthread_t t[THREADS];

	ask(NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, ask, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	char *message;

	dlsym(RTLD_DEFAULT, "no_such_name_anywhere");
	message = dlerror();
	printf("%s\n", message ? message : "no message");
	witness_threads(1);
	witness_print("main");
	return 0;
}
