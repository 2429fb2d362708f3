/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads and unloads a library that brings an allocator, many times, while other threads allocate
 * and load other libraries; then forks a child that uses the allocator, too. Usage: inner_reload
 * PLUGIN-DIRECTORY ROUNDS. Prints how many blocks the plugin's allocator gave out, and took back.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;
static char path[512], other[512];
static void *(*use)(size_t);
static void (*drop)(void *);

static void *load(void)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbols[2] = { NULL, NULL };

	if (handle) {
		symbols[0] = dlsym(handle, "inner_plugin_use");
		symbols[1] = dlsym(handle, "inner_plugin_drop");
	}
	if (!symbols[0] || !symbols[1])
		_exit(3);
	memcpy(&use, &symbols[0], sizeof(use));
	memcpy(&drop, &symbols[1], sizeof(drop));
	return handle;
}

static void *beside(void *arg)
{
	for (unsigned i = 0; !stop; i++) {
		void *handle = i % 64 == 0 ? dlopen(other, RTLD_NOW | RTLD_LOCAL) : NULL;
		void *p = malloc(100 + i % 100);

		if (!p)
			_exit(3);
		free(p);
		if (handle)
			dlclose(handle);
	}
	return arg;
}

static void visit(void)
{
	void *handle = load(), *p = use(100);

	memset(p, 1, 100);
	drop(p);
	dlclose(handle);
}

static void child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		for (unsigned i = 0; i < 10; i++)
			visit();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		_exit(4);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	pthread_t threads[2];

	if (argc < 2)
		return 2;
	snprintf(path, sizeof(path), "%s/inner.so", argv[1]);
	snprintf(other, sizeof(other), "%s/one.so", argv[1]);
	visit();
	child();
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, beside, NULL);
	for (unsigned i = 1; i < rounds; i++)
		visit();
	stop = 1;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	load();
	for (unsigned i = 0; i < 5; i++)
		if (!use(200))
			return 3;
	printf("%u\n", 2 * rounds + 1 + 5);
	return 0;
}
