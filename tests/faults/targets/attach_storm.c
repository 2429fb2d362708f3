/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All at once, all the time: threads come and go, children are forked, which allocate and end; a
 * plugin is loaded and unloaded, SIGALRM interrupts, and its handler leaves by siglongjmp. Each
 * checks itself.
 *
 *	attach_storm PAGE PLUGIN
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/faults/targets/attach_page.h"

#define CHILD_S 60 /* a child that takes so long is stuck */

static const char *plugin;
static sigjmp_buf back;
static volatile sig_atomic_t may_leave;

static void on_alarm(int sig)
{
	(void)sig;
	if (may_leave)
		siglongjmp(back, 1);
}

static void *short_thread(void *arg)
{
	unsigned state = (unsigned)(uintptr_t)arg;

	page_allocate(&state);
	return arg;
}

static void *makes_threads(void *arg)
{
	for (uintptr_t i = 1; !page_stopped(); i++) {
		pthread_t thread;
		void *result = arg;
		int r = pthread_create(&thread, NULL, short_thread, (void *)i);

		page_need(r == 0, "pthread_create", r);
		if (r == 0)
			pthread_join(thread, &result);
		page_need(result == (void *)i, "a thread returned", (long)(uintptr_t)result);
	}
	return NULL;
}

static void child(unsigned state)
{
	alarm(CHILD_S);
	for (unsigned i = 0; i < 20; i++)
		page_allocate(&state);
	_exit(7);
}

static void *forks(void *arg)
{
	for (unsigned i = 1; !page_stopped(); i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			child(i);
		page_need(pid > 0, "fork", errno);
		page_need(waitpid(pid, &status, 0) == pid, "waitpid", errno);
		page_need(status == 7 << 8, "a child's status", status);
		atomic_fetch_add(&page->children, 1);
	}
	return arg;
}

/* The loader's lock is held nearly all the time. */
static void *loads(void *arg)
{
	while (!page_stopped()) {
		void *handle = dlopen(plugin, RTLD_NOW);

		page_need(handle != NULL, "dlopen", 0);
		if (handle)
			page_need(dlclose(handle) == 0, "dlclose", 0);
	}
	return arg;
}

/* Leaves by siglongjmp where nothing is allocated; otherwise the handler returns. */
static void jumps(void)
{
	static unsigned state = 1;
	static volatile uint64_t sum;

	while (!page_stopped()) {
		if (sigsetjmp(back, 1) == 0) {
			may_leave = 1;
			for (unsigned i = 0; i < 1000000; i++)
				sum += i;
		}
		may_leave = 0;
		page_allocate(&state);
		page_goes_on();
	}
}

static void thread_start(pthread_t *thread, void *(*does)(void *))
{
	page_need(pthread_create(thread, NULL, does, NULL) == 0, "pthread_create", 0);
}

int main(int argc, char **argv)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t thread[3];
	sigset_t alarms;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	plugin = argv[2];
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarms, NULL); /* the threads take none */
	thread_start(&thread[0], makes_threads);
	thread_start(&thread[1], forks);
	thread_start(&thread[2], loads);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	page_ready();
	jumps();
	setitimer(ITIMER_REAL, &off, NULL);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return page_end();
}
