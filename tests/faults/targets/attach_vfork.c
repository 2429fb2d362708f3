/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children that share the program's memory until they end or execute another: vfork and
 *posix_spawn, some of which sleep meanwhile, and allocate.
 *
 *	attach_vfork PAGE alone    the thread that waits for them is the only one
 *	attach_vfork PAGE with     another allocates
 */
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tests/faults/targets/attach_page.h"

extern char **environ;

static void *allocates(void *arg)
{
	unsigned state = 1;

	while (!page_stopped()) {
		page_allocate(&state);
		page_goes_on();
	}
	return arg;
}

static void child_end_check(pid_t pid, int want)
{
	int status = -1;

	page_need(pid > 0, "no child", errno);
	page_need(waitpid(pid, &status, 0) == pid, "waitpid", errno);
	page_need(status == want << 8, "a child's status", status);
	atomic_fetch_add(&page->children, 1);
}

static NOINLINE void by_vfork(unsigned n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		if (n % 2)
			usleep(30000); /* the parent waits in the kernel */
		if (n % 3)
			_exit(7);
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(1);
	}
	child_end_check(pid, 7);
}

static void by_spawn(void)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	pid_t pid = -1;
	int r = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);

	page_need(r == 0, "posix_spawn", r);
	child_end_check(pid, 7);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	unsigned state = 3;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	if (strcmp(argv[2], "with") == 0)
		pthread_create(&thread, NULL, allocates, NULL);
	page_ready();
	for (unsigned n = 0; !page_stopped(); n++) {
		if (n % 4 == 3)
			by_spawn();
		else
			by_vfork(n);
		page_allocate(&state);
		page_goes_on();
	}
	if (strcmp(argv[2], "with") == 0)
		pthread_join(thread, NULL);
	return page_end();
}
