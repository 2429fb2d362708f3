/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: children made by fork, vfork, raw clone and posix_spawn while other threads
 * allocate. What a child does with its copy of the heap is not the parent's: the account is the
 * parent's alone.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tests/targets/truth.h"

enum { BEFORE, BETWEEN, BUSY };

static atomic_int stop;

static NOINLINE struct truth_block site_before(size_t n)
{
	return (struct truth_block){ truth_got(BEFORE, malloc(n), n), n, BEFORE };
}

static NOINLINE struct truth_block site_between(size_t n)
{
	return (struct truth_block){ truth_got(BETWEEN, calloc(1, n), n), n, BETWEEN };
}

static NOINLINE void site_busy(size_t n)
{
	void *p = truth_got(BUSY, malloc(n), n);

	truth_gone(BUSY, n);
	free(p);
}

static void *busy(void *arg)
{
	while (!stop)
		for (size_t n = 1; n < 500; n++)
			site_busy(n);
	return arg;
}

/* In the child: frees the parent's block, allocates its own, leaves them. */
static int child_work(void *inherited)
{
	static void *volatile kept[100];

	free(inherited);
	for (unsigned i = 0; i < 20000; i++) {
		free(kept[i % 100]);
		kept[i % 100] = malloc(i % 777);
	}
	_exit(kept[99] ? 21 : 1);
}

static void child_wait(pid_t pid, int expected)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		WEXITSTATUS(status) != expected) {
		truth_text(2, "a child ended badly\n");
		_exit(3);
	}
}

static void fork_once(void *block)
{
	pid_t pid = fork();

	if (!pid)
		child_work(block);
	child_wait(pid, 21);
}

static void clone_once(void *block)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		child_work(block);
	child_wait(pid, 21);
}

static void spawn_once(void)
{
	char *const argv[] = { (char[]){ "true" }, NULL };
	char *const none[] = { NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, none))
		_exit(3);
	child_wait(pid, 0);
}

int main(void)
{
	struct truth_block first = site_before(5000), b;
	pthread_t thread[2];

	truth_name(BEFORE, "site_before", "malloc");
	truth_name(BETWEEN, "site_between", "calloc");
	truth_name(BUSY, "site_busy", "malloc");
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, busy, NULL);
	for (int i = 0; i < 100; i++) {
		b = site_between(100 + (size_t)i);
		fork_once(first.at);
		if (i % 4 == 0)
			spawn_once();
		if (i % 3)
			truth_block_free(&b);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 5; i++)
		clone_once(first.at);
	return 0;
}
