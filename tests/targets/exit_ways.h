/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ways to end, for programs that leak: each case makes its blocks in the thread, and just above the
 * frame, that ends the program, so that what making them left on the stack lies where the frames of
 * exit come to lie. One source file each, so everything is here. Usage: PROGRAM CASE WAY.
 */
#ifndef TESTS_TARGETS_EXIT_WAYS_H
#define TESTS_TARGETS_EXIT_WAYS_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define EXIT_STATUS  3
#define NESTED_DEPTH 5
#define STACK_SIZE   65536

struct exit_case {
	const char *name;
	void (*run)(void); /* makes the blocks, then calls finish */
};

static const struct exit_case *chosen;
static void (*volatile finish)(void);
static volatile int destructor_ends;
static pthread_t first_thread;

/* ---- what the case calls at its end ---- */

static void finish_return(void)
{
}

static void finish_exit(void)
{
	exit(EXIT_STATUS);
}

/* Compilers do not know that it does not return. */
static void (*volatile exit_now)(void) = finish_exit;

/* Its frames hold nothing that is not written: what lies in such places says nothing about a block.
 */
__attribute__((noinline)) static void exit_below(long depth)
{
	if (depth > 0)
		exit_below(depth - 1);
	else
		exit_now();
	__asm__ volatile("");
}

static void finish_nested(void)
{
	exit_below(NESTED_DEPTH);
}

static void finish_at_once(void)
{
	_exit(EXIT_STATUS);
}

static void finish_quick(void)
{
	quick_exit(EXIT_STATUS);
}

static void finish_thread(void)
{
	pthread_exit(NULL);
}

/* ---- where the case runs ---- */

static void run_here(void)
{
	chosen->run();
}

static void run_at_exit(void)
{
	atexit(run_here);
	exit(0);
}

__attribute__((destructor)) static void destructor(void)
{
	if (destructor_ends)
		chosen->run();
}

static void run_in_destructor(void)
{
	destructor_ends = 1;
	exit(0);
}

static void handler(int sig)
{
	(void)sig;
	chosen->run();
}

static void run_in_handler(void)
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
}

/* ---- on stacks that are not the thread's own ---- */

static char signal_stack[STACK_SIZE];

static void run_on_signal_stack(void)
{
	stack_t there;
	struct sigaction act;

	memset(&there, 0, sizeof(there));
	there.ss_sp = signal_stack;
	there.ss_size = sizeof(signal_stack);
	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	act.sa_flags = SA_ONSTACK;
	sigaltstack(&there, NULL);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
}

static ucontext_t coroutine, coroutine_back;

static void run_in_coroutine(void)
{
	void *stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = STACK_SIZE;
	coroutine.uc_link = NULL;
	makecontext(&coroutine, run_here, 0);
	swapcontext(&coroutine_back, &coroutine);
}

/* ---- in other threads ---- */

static void *thread_run(void *arg)
{
	chosen->run();
	return arg;
}

static void run_in_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread_run, NULL) == 0)
		pthread_join(t, NULL);
}

static void *thread_run_after(void *arg)
{
	pthread_join(first_thread, NULL);
	chosen->run();
	return arg;
}

static void run_after_first_thread(void)
{
	pthread_t t;

	first_thread = pthread_self();
	if (pthread_create(&t, NULL, thread_run_after, NULL) == 0)
		pthread_exit(NULL);
}

static const struct exit_way {
	const char *name;
	void (*run)(void);
	void (*finish)(void);
} exit_ways[] = {
	{ "return", run_here, finish_return },
	{ "exit", run_here, finish_exit },
	{ "nested", run_here, finish_nested },
	{ "atexit", run_at_exit, finish_exit },
	{ "thread", run_in_thread, finish_exit },
	{ "handler", run_in_handler, finish_exit },
	{ "_exit", run_here, finish_at_once },
	{ "quick_exit", run_here, finish_quick },
	{ "destructor", run_in_destructor, finish_exit },
	{ "pthread_exit", run_here, finish_thread },
	{ "signal_stack", run_on_signal_stack, finish_exit },
	{ "coroutine", run_in_coroutine, finish_exit },
	{ "last_thread", run_after_first_thread, finish_return },
	{ "leader_gone", run_after_first_thread, finish_exit },
};

/* Returns main's status: 2 if there is no such case or way. */
static int exit_by_way(const struct exit_case *cases, const char *name, const char *way)
{
	size_t i = 0;

	for (chosen = cases; chosen->name && strcmp(chosen->name, name) != 0;)
		chosen++;
	while (i < sizeof(exit_ways) / sizeof(exit_ways[0]) && strcmp(exit_ways[i].name, way) != 0)
		i++;
	if (!chosen->name || i == sizeof(exit_ways) / sizeof(exit_ways[0]))
		return 2;
	finish = exit_ways[i].finish;
	exit_ways[i].run();
	return EXIT_STATUS;
}

#endif
