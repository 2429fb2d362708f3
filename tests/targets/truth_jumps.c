/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: control that does not return the way it came. longjmp over a hundred frames,
 * siglongjmp out of a handler, swapcontext between stacks of its own making, a handler that
 * allocates.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include "tests/targets/truth.h"

enum { DEEP, HANDLER, COROUTINE };

#define STACK_BYTES 65536u
#define SWITCHES    5000u

static jmp_buf back;
static sigjmp_buf back_from_signal;
static ucontext_t main_context, co_context;

static NOINLINE void *site_deep(size_t n)
{
	return truth_got(DEEP, malloc(n), n);
}

static NOINLINE void *site_handler(size_t n)
{
	return truth_got(HANDLER, malloc(n), n);
}

static NOINLINE void *site_coroutine(size_t n)
{
	return truth_got(COROUTINE, malloc(n), n);
}

static NOINLINE void dive(int depth, struct truth_block *out)
{
	volatile char frame[32] = { 0 };

	if (depth > frame[0]) {
		dive(depth - 1, out);
		return;
	}
	*out = (struct truth_block){ site_deep(500), 500, DEEP };
	if (out->at)
		longjmp(back, 1);
}

static void jump_out(void)
{
	static struct truth_block b;

	for (volatile int i = 0; i < 2000; i++) {
		if (!setjmp(back))
			dive(i % 120, &b);
		if (i % 3)
			truth_block_free(&b);
	}
}

/* Raised by the program itself, so never in the middle of an allocation. */
static void on_signal(int number)
{
	(void)number;
	site_handler(40);
	siglongjmp(back_from_signal, 1);
}

static void jump_out_of_handlers(void)
{
	signal(SIGUSR1, on_signal);
	for (volatile int i = 0; i < 500; i++)
		if (!sigsetjmp(back_from_signal, 1))
			raise(SIGUSR1);
}

static void coroutine(void)
{
	for (;;) {
		struct truth_block b = { site_coroutine(64), 64, COROUTINE };

		swapcontext(&co_context, &main_context);
		truth_block_free(&b);
	}
}

static void switch_stacks(void)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	getcontext(&co_context);
	co_context.uc_stack.ss_sp = stack;
	co_context.uc_stack.ss_size = STACK_BYTES;
	co_context.uc_link = NULL;
	makecontext(&co_context, coroutine, 0);
	for (unsigned i = 0; i < SWITCHES; i++)
		swapcontext(&main_context, &co_context);
}

int main(void)
{
	truth_strict = 1;
	truth_name(DEEP, "site_deep", "malloc");
	truth_name(HANDLER, "site_handler", "malloc");
	truth_name(COROUTINE, "site_coroutine", "malloc");
	jump_out();
	jump_out_of_handlers();
	switch_stacks();
	return 0;
}
