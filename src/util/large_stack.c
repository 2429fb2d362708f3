/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the program on a larger stack (large_stack.h). It stays on the same thread, because ptrace,
 * signals and waitpid depend on the thread. Called by main, before anything else.
 */
#include "src/util/large_stack.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

/* With at least this limit the existing stack is enough: several times the need of heaptop, ncurses
 * and libc. */
#define SUFFICIENT_BYTES (1u << 20)
#define STACK_BYTES	 (512u << 10)
#define GUARD_BYTES	 (64u << 10) /* at least one page, whatever the page size */

struct call {
	int (*body)(void *ctx);
	void *ctx;
	int result;
	ucontext_t before, own;
};

static struct call call; /* makecontext passes only integers */

static void call_run(void)
{
	call.result = call.body(call.ctx);
}

static void *stack_new(void)
{
	char *p = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) == 0)
		return p;
	munmap(p, GUARD_BYTES + STACK_BYTES);
	return NULL;
}

int large_stack_run(int (*body)(void *ctx), void *ctx)
{
	struct rlimit limit;
	char *stack = NULL;

	call.body = body;
	call.ctx = ctx;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < SUFFICIENT_BYTES)
		stack = stack_new();
	if (!stack || getcontext(&call.own) != 0) {
		call_run();
		return call.result;
	}
	call.own.uc_stack.ss_sp = stack + GUARD_BYTES;
	call.own.uc_stack.ss_size = STACK_BYTES;
	call.own.uc_link = &call.before;
	makecontext(&call.own, call_run, 0);
	if (swapcontext(&call.before, &call.own) != 0)
		call_run();
	munmap(stack, GUARD_BYTES + STACK_BYTES);
	return call.result;
}
