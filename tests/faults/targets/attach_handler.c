/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread that stays in a signal handler on an alternate stack, and checks at the end that its
 * handler returned to where it was, with the same mask and the same stack.
 *
 *	attach_handler PAGE alone      the only thread; in its handler it sleeps
 *	attach_handler PAGE with       another thread allocates
 *	attach_handler PAGE small      as with, on an alternate stack of the smallest size
 */
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>

#include "tests/faults/targets/attach_page.h"

#define MARK  0xa5
#define GUARD 65536u

static unsigned char *area; /* GUARD bytes that nobody may write, the stack above them */
static volatile sig_atomic_t been_there;

static void on_signal(int sig)
{
	struct timespec nap = { .tv_nsec = 20000000 };

	(void)sig;
	while (!page_stopped()) {
		errno = 4242;
		page_need(nanosleep(&nap, NULL) == 0, "nanosleep in a handler", errno);
		page_need(errno == 4242, "errno in a handler", errno);
		page_goes_on();
	}
	been_there = 1;
}

static void *allocates(void *arg)
{
	unsigned state = 1;

	while (!page_stopped())
		page_allocate(&state);
	return arg;
}

static size_t stack_bytes(const char *how)
{
	size_t least = getauxval(AT_MINSIGSTKSZ);

	return strcmp(how, "small") == 0 ? (least ? least : 2048) + 4096 : 65536;
}

static void stack_set(size_t bytes)
{
	stack_t stack = { .ss_size = bytes };

	area = mmap(
		NULL, GUARD + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		_exit(2);
	memset(area, MARK, GUARD);
	stack.ss_sp = area + GUARD;
	sigaltstack(&stack, NULL);
}

static void stack_check(size_t bytes)
{
	stack_t stack;

	sigaltstack(NULL, &stack);
	page_need(stack.ss_sp == area + GUARD && stack.ss_size == bytes && stack.ss_flags == 0,
		"the alternate stack is another", stack.ss_flags);
	for (unsigned i = 0; i < GUARD; i++)
		page_need(area[i] == MARK, "below the alternate stack, byte", (long)i);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	sigset_t mask, after;
	pthread_t thread;
	size_t bytes;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	bytes = stack_bytes(argv[2]);
	stack_set(bytes);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (strcmp(argv[2], "alone") != 0)
		pthread_create(&thread, NULL, allocates, NULL);
	sigaction(SIGUSR1, &action, NULL);
	page_ready();
	raise(SIGUSR1);
	page_need(been_there, "the handler did not end", 0);
	sigprocmask(SIG_BLOCK, NULL, &after);
	page_need(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGUSR1), "the mask", 0);
	stack_check(bytes);
	if (strcmp(argv[2], "alone") != 0)
		pthread_join(thread, NULL);
	return page_end();
}
