/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: one child, made in one of the ways there are. The child frees a block of the
 * parent's, allocates, starts threads that do the same, and ends by exit; in the ways that share
 * memory it allocates and frees in the parent's heap, which is the parent's account, and execs or
 * ends. Says "ready" before and "done" after, and waits for a line after each. Usage: fork_ways WAY
 * [MALLOCS [TIMES]]
 */
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tests/targets/truth.h"

#define THREADS 3

enum { BEFORE, SHARED };

static unsigned mallocs = 100000;
static void *inherited;
extern char **environ;

static NOINLINE void *site_before(size_t n)
{
	return truth_got(BEFORE, malloc(n), n);
}

static NOINLINE void *site_shared(size_t n)
{
	return truth_got(SHARED, malloc(n), n);
}

static _Noreturn void die(const char *why)
{
	truth_text(2, why);
	_exit(3);
}

static void *allocate(void *arg)
{
	void *kept[64] = { NULL };

	for (unsigned i = 0; i < mallocs; i++) {
		free(kept[i % 64]);
		kept[i % 64] = malloc(1 + i % 700);
		if (i % 50 == 0)
			kept[i % 64] = realloc(kept[i % 64], 2000);
		if (!kept[i % 64])
			die("no memory\n");
	}
	for (unsigned i = 0; i < 64; i++)
		free(kept[i]);
	return arg;
}

/* A child with a copy of the heap. */
static _Noreturn void child_apart(bool threads)
{
	pthread_t thread[THREADS];

	free(inherited);
	allocate(NULL);
	for (int i = 0; threads && i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, allocate, NULL) != 0)
			die("no thread\n");
	for (int i = 0; threads && i < THREADS; i++)
		pthread_join(thread[i], NULL);
	truth_written = 1; /* the account is the parent's */
	exit(21);
}

static void child_wait(pid_t pid, int expected)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		WEXITSTATUS(status) != expected)
		die("a child ended badly\n");
}

static void by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		child_apart(true);
	child_wait(pid, 21);
}

/* Without any handler of libc's: one thread, since libc does not know that it is another process.
 */
static void by_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		child_apart(false);
	child_wait(pid, 21);
}

static void by_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		child_apart(false);
	child_wait(pid, 21);
}

/* A daemon: the parent's child ends at once, its child goes on in a session of its own. */
static void by_double_fork(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0)
		die("no pipe\n");
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() == 0)
			child_apart(true);
		_exit(22);
	}
	close(ends[1]);
	child_wait(pid, 22);
	if (read(ends[0], &byte, 1) != 0) /* until the daemon has ended */
		die("the daemon says something\n");
	close(ends[0]);
}

/* The child shares memory and stack with its parent, which waits. */
static void child_shared(void)
{
	for (size_t i = 1; i < 300; i++) {
		void *p = site_shared(i);

		truth_gone(SHARED, i);
		free(p);
	}
	site_shared(123);
}

static void by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		child_shared();
		execl("/bin/true", "true", NULL);
		_exit(3);
	}
	child_wait(pid, 0);
}

static void by_vfork_exit(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		child_shared();
		_exit(23);
	}
	child_wait(pid, 23);
}

static int child_on_own_stack(void *unused)
{
	(void)unused;
	child_shared();
	_exit(24);
}

static void by_clone_exit(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	child_wait(clone(child_on_own_stack, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), 24);
}

static void by_spawn(void)
{
	char *const argv[] = { (char[]){ "true" }, NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0)
		die("no process\n");
	child_wait(pid, 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = { { "fork", by_fork }, { "clone", by_clone }, { "clone3", by_clone3 },
	{ "daemon", by_double_fork }, { "vfork", by_vfork }, { "vfork_exit", by_vfork_exit },
	{ "clone_exit", by_clone_exit }, { "spawn", by_spawn } };

static void say(const char *word)
{
	char line[16];

	truth_text(1, word);
	if (read(0, line, sizeof(line)) < 0)
		die("no line\n");
}

int main(int argc, char **argv)
{
	unsigned times = argc > 3 ? (unsigned)atoi(argv[3]) : 1;

	truth_name(BEFORE, "site_before", "malloc");
	truth_name(SHARED, "site_shared", "malloc");
	if (argc > 2)
		mallocs = (unsigned)atoi(argv[2]);
	for (unsigned i = 0; i < 100; i++)
		inherited = site_before(100 + i);
	say("ready\n");
	for (unsigned i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		for (unsigned n = 0; !strcmp(argv[1], ways[i].name) && n < times; n++)
			ways[i].run();
	say("done\n");
	return 0;
}
