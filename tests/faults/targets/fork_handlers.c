/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Handlers around fork, of a program and as an interpreter would have them: they allocate, free
 * what was allocated on the other side, and say in which order they run. Then the same by _Fork,
 * which calls none. What is said must be the same with and without heaptop.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t __fork(void); /* libc's other name of it */

static char *note;
static int is_child;

static void say(const char *who, const char *when)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %s\n", who, when);

	if (write(is_child ? 2 : 1, line, (size_t)n) != n)
		_exit(9);
}

static void note_take(const char *who, const char *when)
{
	free(note);
	note = strdup(who);
	say(note, when);
}

#define HANDLERS(who)                                                                              \
	static void who##_before(void)                                                             \
	{                                                                                          \
		note_take(#who, "before");                                                         \
	}                                                                                          \
	static void who##_parent(void)                                                             \
	{                                                                                          \
		note_take(#who, "in the parent");                                                  \
	}                                                                                          \
	static void who##_child(void)                                                              \
	{                                                                                          \
		is_child = 1;                                                                      \
		note_take(#who, "in the child");                                                   \
	}
HANDLERS(first)
HANDLERS(second)
HANDLERS(third)

static void child_run(pid_t pid)
{
	int status = 0;

	if (pid == 0) {
		free(note);
		note = NULL;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		say("child", "ended badly");
}

int main(void)
{
	pthread_atfork(first_before, first_parent, first_child);
	pthread_atfork(second_before, second_parent, second_child);
	pthread_atfork(third_before, third_parent, third_child);
	for (int i = 0; i < 3; i++)
		child_run(i == 2 ? __fork() : fork());
	free(note);
	note = NULL;
	child_run(_Fork());
	return 0;
}
