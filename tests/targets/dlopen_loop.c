/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: one thread loads and unloads two plugins in turn, each at the address of the one
 * before, and allocates in them; two other threads allocate all the while. Blocks outlive the code
 * that made them. Usage: dlopen_loop PLUGIN-DIRECTORY [ROUNDS]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include "tests/targets/truth.h"

enum { IN_PLUGIN, BESIDE };

static atomic_int stop;

static NOINLINE void site_beside(size_t n)
{
	void *p = truth_got(BESIDE, malloc(n), n);

	truth_gone(BESIDE, n);
	free(p);
}

static void *beside(void *arg)
{
	while (!stop)
		for (size_t n = 1; n < 300; n++)
			site_beside(n);
	return arg;
}

static void plugin_visit(const char *path, size_t bytes)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *(*allocate)(size_t) = NULL;
	void *symbol;

	if (handle)
		symbol = dlsym(handle, "plugin_allocate");
	if (!handle || !symbol) {
		truth_text(2, "a plugin cannot be loaded\n");
		_exit(3);
	}
	memcpy(&allocate, &symbol, sizeof(allocate));
	truth_got(IN_PLUGIN, allocate(bytes), bytes);
	dlclose(handle);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 200;
	char one[4096], two[4096];
	pthread_t thread[2];

	if (argc < 2)
		return 2;
	snprintf(one, sizeof(one), "%s/one.so", argv[1]);
	snprintf(two, sizeof(two), "%s/two.so", argv[1]);
	truth_name(IN_PLUGIN, "plugin_allocate", "malloc");
	truth_name(BESIDE, "site_beside", "malloc");
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, beside, NULL);
	for (int i = 0; i < rounds; i++) {
		plugin_visit(one, 1000);
		plugin_visit(two, 3000);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
