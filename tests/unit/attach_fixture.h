/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that are attached to, with and without a thread that can be used; and their viewers. */
#ifndef TESTS_UNIT_ATTACH_FIXTURE_H
#define TESTS_UNIT_ATTACH_FIXTURE_H

#include <dlfcn.h>
#include <sys/syscall.h>

#include "src/attach/attach.h"
#include "tests/unit/traced_fixture.h"

#define TIMEOUT_NS UINT64_C(10000000000)
#define CALLERS	   4

static char message[ATTACH_MESSAGE_MAX];

static void *wait_idle(void *ctx)
{
	for (;;)
		poll(NULL, 0, -1);
	return NULL;
}

/* A thread that takes no signals, so that there is one that can be used. */
static void idle_add(void)
{
	static bool have;
	sigset_t all, before;
	pthread_t thread;

	if (have)
		return;
	have = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, NULL, wait_idle, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void registers_beside(void)
{
	idle_add();
	in_registers();
}

static void handler_beside(void)
{
	idle_add();
	in_handler();
}

static void alarms_beside(void)
{
	idle_add();
	in_alarms();
}

static void *call_always(void *ctx)
{
	pid_t own = getpid(), parent = (pid_t)syscall(SYS_getppid);

	while (!shared->stop) {
		pid_t got = getppid();

		judge(got == own || got == parent);
		shared->argument[0] = got == own;
	}
	return NULL;
}

/* Threads that are in the patched function all the time. */
static void in_calls(void)
{
	pthread_t thread[CALLERS];

	idle_add();
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&thread[i], NULL, call_always, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(thread[i], NULL);
}

/* Blocks that are checked when they are freed; no thread ever waits. */
static void *allocate_always(void *ctx)
{
	unsigned seed = (unsigned)(uintptr_t)ctx;

	while (!shared->stop) {
		size_t n = 16 + rand_r(&seed) % 2000;
		unsigned char *p = malloc(n), *q;

		memset(p, (int)n & 0xff, n);
		q = realloc(p, n + 100);
		judge(q && q[0] == (n & 0xff) && q[n - 1] == (n & 0xff));
		free(q);
	}
	return NULL;
}

static void in_allocations(void)
{
	pthread_t thread[CALLERS];

	for (int i = 0; i < CALLERS - 1; i++)
		pthread_create(&thread[i], NULL, allocate_always, (void *)(uintptr_t)i);
	allocate_always(NULL);
	for (int i = 0; i < CALLERS - 1; i++)
		pthread_join(thread[i], NULL);
}

/* All its blocks come from inside libc; only free is called by the program. */
static void in_copies(void)
{
	char *p = strdup("a text");

	judge(strcmp(p, "a text") == 0);
	free(p);
}

/* The loader's lock is held nearly all the time. */
static void in_loading(void)
{
	void *library = dlopen("libutil.so.1", RTLD_NOW);

	judge(library && dlclose(library) == 0);
}

static void loading_beside(void)
{
	idle_add();
	in_loading();
}

static const struct program attached[] = {
	{ "nanosleep", in_nanosleep, true },
	{ "poll", in_poll, true },
	{ "epoll_wait", in_epoll, true },
	{ "a futex", in_futex, true },
	{ "a semaphore", in_semaphore, true },
	{ "registers", registers_beside, false },
	{ "a handler on another stack", handler_beside, false },
	{ "SIGALRM and siglongjmp", alarms_beside, false },
	{ "the patched function", in_calls, false },
	{ "malloc", in_allocations, false },
	{ "strdup and free", in_copies, false },
	{ "dlopen and dlclose", in_loading, false },
	{ "dlopen and dlclose, beside a thread that waits", loading_beside, false },
};

#define ATTACHED (sizeof(attached) / sizeof(attached[0]))

/* In a process of its own, which dies at a step; returns whether it did. */
static bool viewer_until(pid_t pid, int (*what)(pid_t pid), int fatal)
{
	pid_t viewer = fork();
	int status;

	if (viewer == 0) {
		step_number = 0;
		step_fatal = fatal;
		_exit(what(pid) != 0);
	}
	waitpid(viewer, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void report(const char *name)
{
	if (check_failed_here)
		fprintf(stderr, "  in %s: %s\n", name, message);
}

#endif
