/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A child by fork hangs blocks on those of its parent, and loses some; it writes what it made
 * (leaks.h). The parent ends as the child does.
 *
 * leaks_forked       the child ends by returning from main
 * leaks_forked wait  it says its pid, then "ready", and waits for its input to end
 */
#include <pthread.h>
#include <sys/wait.h>

#include "tests/targets/leaks.h"

MAKER(reachable_by_parents)
MAKER(reachable_by_parents_arena)
MAKER(definite_since_fork)

static struct node *volatile before_fork, *volatile before_fork_arena;

static void *hold_in_arena(void *arg)
{
	before_fork_arena = calloc(1, sizeof(struct node));
	return arg;
}

/* Returns in the child. */
__attribute__((noinline)) static void forked(void)
{
	pthread_t t;
	int status;
	pid_t child;

	before_fork = calloc(1, sizeof(struct node));
	pthread_create(&t, NULL, hold_in_arena, NULL);
	pthread_join(t, NULL);
	child = fork();
	if (child > 0)
		_exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
	before_fork->next = reachable_by_parents(100);
	before_fork_arena->next = reachable_by_parents_arena(100);
	for (int i = 0; i < 3; i++)
		definite_since_fork(777);
}

int main(int argc, char **argv)
{
	forked();
	clear_stack();
	account_write();
	if (argc > 1 && strcmp(argv[1], "wait") == 0) {
		dprintf(STDOUT_FILENO, "pid %d\n", (int)getpid());
		wait_for_end();
	}
	return 0;
}
