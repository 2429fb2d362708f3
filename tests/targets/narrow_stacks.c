/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call stacks of the kinds that differ between i386 and x86-64: position-independent code, which
 * calls a thunk for its own address; a frame that is realigned, or of variable size; both kinds of
 * signal frames, with and without SA_SIGINFO, in a function and on a stack of their own. Each block
 * stays alive.
 */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static void *volatile kept;
static volatile int sink;

NOINLINE static void site_plain(size_t bytes)
{
	kept = malloc(bytes);
	sink++;
}

NOINLINE static void middle(size_t bytes)
{
	site_plain(bytes);
	sink++;
}

NOINLINE static void site_realigned(size_t bytes)
{
	struct {
		_Alignas(64) volatile char at[64];
	} here;

	here.at[0] = (char)bytes;
	kept = malloc(bytes);
	sink += here.at[0];
}

NOINLINE static void realigned(size_t bytes)
{
	_Alignas(32) volatile char here[32];
	volatile char *more = alloca(bytes);

	more[0] = here[0] = 1;
	site_realigned(bytes);
	sink += here[0] + more[0];
}

NOINLINE static void site_old(int number)
{
	kept = malloc((size_t)number);
	sink++;
}

NOINLINE static void site_new(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	kept = malloc((size_t)number);
	sink++;
}

NOINLINE static void interrupted(int number)
{
	raise(number);
	sink++;
}

static void handle(int number, void (*plain)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_flags = flags;
	if (plain)
		sa.sa_handler = plain;
	else
		sa.sa_sigaction = site_new;
	sigaction(number, &sa, NULL);
}

NOINLINE static void signals(void)
{
	static char other[65536];
	stack_t stack;

	memset(&stack, 0, sizeof(stack));
	stack.ss_sp = other;
	stack.ss_size = sizeof(other);
	sigaltstack(&stack, NULL);
	handle(SIGUSR1, site_old, 0);
	handle(SIGUSR2, NULL, SA_SIGINFO);
	interrupted(SIGUSR1);
	interrupted(SIGUSR2);
	handle(SIGUSR1, site_old, SA_ONSTACK);
	handle(SIGUSR2, NULL, SA_SIGINFO | SA_ONSTACK);
	interrupted(SIGUSR1);
	interrupted(SIGUSR2);
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		middle(100);
		realigned(200);
		signals();
	}
	return 0;
}
