/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: what happens around main. Blocks made by a constructor, freed and made by atexit
 * handlers and by destructors; the account is written last of all. With an argument it ends
 * otherwise:
 * "_exit" and "quick_exit" without destructors, "thread" by exit() in another thread, "abort"
 * badly.
 */
#include <pthread.h>
#include "tests/targets/truth.h"

enum { CONSTRUCTOR, MAIN, ATEXIT, DESTRUCTOR };

static struct truth_block early, kept[8], late;

static NOINLINE struct truth_block site_constructor(size_t n)
{
	return (struct truth_block){ truth_got(CONSTRUCTOR, malloc(n), n), n, CONSTRUCTOR };
}

static NOINLINE struct truth_block site_main(size_t n)
{
	return (struct truth_block){ truth_got(MAIN, malloc(n), n), n, MAIN };
}

static NOINLINE struct truth_block site_atexit(size_t n)
{
	return (struct truth_block){ truth_got(ATEXIT, calloc(2, n / 2), n), n, ATEXIT };
}

static NOINLINE struct truth_block site_destructor(size_t n)
{
	return (struct truth_block){ truth_got(DESTRUCTOR, malloc(n), n), n, DESTRUCTOR };
}

__attribute__((constructor)) static void before_main(void)
{
	truth_strict = 1;
	truth_name(CONSTRUCTOR, "site_constructor", "malloc");
	truth_name(MAIN, "site_main", "malloc");
	truth_name(ATEXIT, "site_atexit", "calloc");
	truth_name(DESTRUCTOR, "site_destructor", "malloc");
	early = site_constructor(1234);
	site_constructor(77);
}

static void on_exit_first(void)
{
	truth_block_free(&kept[0]);
	late = site_atexit(4000);
}

static void on_exit_second(void)
{
	truth_block_free(&kept[1]);
	site_atexit(600);
}

__attribute__((destructor)) static void after_main(void)
{
	struct truth_block b = site_destructor(333);

	truth_block_free(&early);
	truth_block_free(&late);
	truth_block_free(&b);
	site_destructor(55);
}

static void *exit_here(void *arg)
{
	(void)arg;
	exit(7);
}

static int end_as_told(const char *how)
{
	pthread_t thread;

	if (!strcmp(how, "thread")) {
		truth_strict = 0; /* the thread's stack is described in memory of the loader */
		pthread_create(&thread, NULL, exit_here, NULL);
		pthread_join(thread, NULL);
	}
	truth_write();
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	return 2;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 8; i++)
		kept[i] = site_main(100 + (size_t)i);
	atexit(on_exit_second);
	atexit(on_exit_first);
	if (argc > 1)
		return end_as_told(argv[1]);
	exit(0);
}
