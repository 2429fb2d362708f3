/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that loses one block of 100 bytes, and is busy between the moment when it says that it
 * ends (quick_exit) and its last instant: its handler of at_quick_exit does what the argument
 * names, then writes "ended". Exit status 3.
 *
 * exit_busy child    waits for a child that loses blocks itself, and ends meanwhile
 * exit_busy exec     goes on as "exit_busy plain", which ends by exit
 * exit_busy signal   sends itself a signal, whose handler says so
 * exit_busy thread   makes a thread that ends alone, and another one that goes on to the last
 * exit_busy stop     is stopped, and continued by a child
 * exit_busy input    says "waits", until its input ends
 * exit_busy plain    does nothing
 * exit_busy vfork    has a child by vfork call exit, which takes all exit handlers with it, before
 *                    it loses the block; none is run at its own end
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS 3

static const char *self;
static pid_t child;

__attribute__((noinline)) static void definite_block(size_t size)
{
	char *volatile p = malloc(size);

	p[0] = 1;
	p = NULL;
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(9);
}

static void busy_child(void)
{
	int status;

	if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4)
		say("the child has ended\n");
}

static void busy_exec(void)
{
	execl(self, self, "plain", (char *)NULL);
}

static void on_signal(int sig)
{
	(void)sig;
	say("signal\n");
}

static void busy_signal(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

static void *thread_end(void *arg)
{
	say("thread\n");
	return arg;
}

static void *thread_stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void busy_thread(void)
{
	pthread_t t, other;

	if (pthread_create(&t, NULL, thread_end, NULL) == 0)
		pthread_join(t, NULL);
	pthread_create(&other, NULL, thread_stay, NULL);
}

static void busy_stop(void)
{
	pid_t me = getpid(), other = fork();
	int status;

	if (other == 0) {
		char path[64], state = 0;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)me);
		/* 't' as long as it is traced and has not stopped as a job. */
		while (state != 'T' && state != 't') {
			FILE *f = fopen(path, "r");

			if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
				_exit(1);
			fclose(f);
			usleep(1000);
		}
		usleep(20000);
		kill(me, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	waitpid(other, &status, 0);
	say("continued\n");
}

static void busy_input(void)
{
	char c;

	say("waits\n");
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

static void busy_plain(void)
{
}

/* As programs do by mistake whose exec has failed. */
static void busy_vfork(void)
{
	int status;
	pid_t other = vfork();

	if (other == 0)
		exit(4);
	waitpid(other, &status, 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = { { "child", busy_child }, { "exec", busy_exec }, { "signal", busy_signal },
	{ "thread", busy_thread }, { "stop", busy_stop }, { "input", busy_input },
	{ "plain", busy_plain }, { "vfork", busy_vfork } };
static void (*chosen)(void);

static void at_end(void)
{
	chosen();
	say("ended\n");
}

int main(int argc, char **argv)
{
	self = argv[0];
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
			chosen = ways[i].run;
	if (!chosen)
		return 2;
	if (chosen == busy_child && (child = fork()) == 0) {
		definite_block(60);
		exit(4);
	}
	if (chosen == busy_vfork) {
		busy_vfork();
		definite_block(100);
		exit(STATUS);
	}
	definite_block(100);
	at_quick_exit(at_end);
	if (chosen == busy_plain) {
		say("plain\n");
		exit(STATUS);
	}
	quick_exit(STATUS);
}
