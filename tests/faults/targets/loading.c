/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: eight threads allocate at all depths, some of them inside callbacks of the loader,
 * which holds its lock then, while two threads load and unload libraries and allocate in them.
 * Usage: loading ROUNDS FILE FILE FILE FILE (copies of tests/targets/plugin/plugin.c, each once).
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include "tests/targets/truth.h"

enum { IN_PLUGIN, BESIDE, IN_CALLBACK };

#define ALLOCATING 8
#define LOADING	   2
#define DEPTHS	   40

static atomic_int loading;
static int rounds;
static char **files;

static NOINLINE void site_beside(size_t n)
{
	void *p = truth_got(BESIDE, malloc(n), n);

	truth_gone(BESIDE, n);
	free(p);
}

static NOINLINE void site_callback(size_t n)
{
	void *p = truth_got(IN_CALLBACK, malloc(n), n);

	truth_gone(IN_CALLBACK, n);
	free(p);
}

static NOINLINE void dive(int depth, size_t n)
{
	if (depth > 0)
		dive(depth - 1, n);
	else
		site_beside(n);
	KEEP_FRAME();
}

static int each_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info, (void)size, (void)arg;
	site_callback(48);
	return 0;
}

static void *allocate(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (loading > 0) {
		dive((int)truth_dice(&seed, DEPTHS), truth_dice(&seed, 500) + 1);
		if (truth_dice(&seed, 16) == 0)
			dl_iterate_phdr(each_object, NULL);
	}
	return NULL;
}

static void plugin_visit(const char *path, size_t bytes)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = handle ? dlsym(handle, "plugin_allocate") : NULL, *block;
	void *(*plugin_allocate)(size_t);

	if (!symbol) {
		truth_text(2, "a plugin cannot be loaded\n");
		_exit(3);
	}
	memcpy(&plugin_allocate, &symbol, sizeof(plugin_allocate));
	for (int i = 0; i < 4; i++) {
		block = truth_got(IN_PLUGIN, plugin_allocate(bytes), bytes);
		if (i > 0) { /* one block of each visit outlives its code */
			truth_gone(IN_PLUGIN, bytes);
			free(block);
		}
	}
	dlclose(handle);
}

static void *load(void *arg)
{
	char **own = arg;

	for (int i = 0; i < rounds; i++)
		plugin_visit(own[i % 2], (size_t)(i % 2 ? 300 : 100));
	loading--;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[ALLOCATING + LOADING];

	if (argc < 6)
		return 2;
	rounds = atoi(argv[1]);
	files = argv + 2;
	loading = LOADING;
	truth_name(IN_PLUGIN, "plugin_allocate", "malloc");
	truth_name(BESIDE, "site_beside", "malloc");
	truth_name(IN_CALLBACK, "site_callback", "malloc");
	for (uintptr_t i = 0; i < ALLOCATING; i++)
		pthread_create(&t[i], NULL, allocate, (void *)i);
	for (int i = 0; i < LOADING; i++)
		pthread_create(&t[ALLOCATING + i], NULL, load, files + 2 * i);
	for (int i = 0; i < ALLOCATING + LOADING; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
