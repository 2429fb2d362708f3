/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread that stays in a signal handler, mostly on an alternate stack, and checks at the end that
 * its handler returned to where it was, with the same mask and the same stack.
 *
 *	attach_handler PAGE alone      the only thread; in its handler it sleeps
 *	attach_handler PAGE with       another thread allocates
 *	attach_handler PAGE small      as with, on an alternate stack of the smallest size
 *	attach_handler PAGE waited     the only thread, on its own stack; it waited for the signal
 *	attach_handler PAGE raised     the same, but it was in the middle of raise()
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
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

/* The signal is pending until the wait for it begins. */
static void wait_for_signal(void)
{
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, &before);
	raise(SIGUSR1);
	page_need(sigsuspend(&before) == -1 && errno == EINTR, "sigsuspend", errno);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	bool own_stack, waits, alone;
	sigset_t mask, after;
	pthread_t thread;
	size_t bytes;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	waits = strcmp(argv[2], "waited") == 0;
	own_stack = waits || strcmp(argv[2], "raised") == 0;
	alone = own_stack || strcmp(argv[2], "alone") == 0;
	bytes = stack_bytes(argv[2]);
	stack_set(bytes);
	action.sa_flags = own_stack ? 0 : SA_ONSTACK;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (!alone)
		pthread_create(&thread, NULL, allocates, NULL);
	sigaction(SIGUSR1, &action, NULL);
	page_ready();
	if (waits)
		wait_for_signal();
	else
		raise(SIGUSR1);
	page_need(been_there, "the handler did not end", 0);
	sigprocmask(SIG_BLOCK, NULL, &after);
	page_need(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGUSR1), "the mask", 0);
	stack_check(bytes);
	if (!alone)
		pthread_join(thread, NULL);
	return page_end();
}
