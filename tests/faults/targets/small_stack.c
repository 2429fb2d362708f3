/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much stack the allocation functions take, in a thread whose stack is the least there may be,
 * in a signal handler on an alternate stack of the least size, and on a context's stack in
 * malloc'ed memory. Prints "KIND BYTES" for each: what was below the caller's frame and was written
 * to.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define PAINT	 0xa5u
#define DEPTH	 20

static NOINLINE void calls(void)
{
	char *volatile p = malloc(100);
	void *volatile q = calloc(3, 50);
	void *volatile aligned = NULL;

	p = realloc(p, 5000);
	if (!p || !q || posix_memalign((void **)&aligned, 64, 100) != 0)
		abort();
	free(p);
	free(q);
	free(aligned);
	p = malloc(10000);
	free(p);
}

/* From deeper and deeper frames, so that stacks are unwound afresh. */
static NOINLINE int dive(int depth)
{
	volatile int down = 0;

	calls();
	if (depth > 0)
		down = dive(depth - 1);
	return down + 1;
}

struct area {
	unsigned char *start;
	size_t bytes;
	uintptr_t frame; /* of the function whose callees are measured */
};

static size_t used(const struct area *a)
{
	const unsigned char *p = a->start;

	while (*p == PAINT)
		p++;
	return a->frame - (uintptr_t)p;
}

static struct area area_make(size_t bytes)
{
	struct area a = { .bytes = bytes };

	a.start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(a.start, PAINT, bytes);
	return a;
}

static NOINLINE void *in_thread(void *arg)
{
	struct area *a = arg;

	a->frame = (uintptr_t)__builtin_frame_address(0);
	dive(DEPTH);
	return NULL;
}

static void thread_measure(void)
{
	struct area a = area_make((size_t)PTHREAD_STACK_MIN);
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, a.start, a.bytes) != 0 ||
		pthread_create(&thread, &attr, in_thread, &a) != 0)
		abort();
	pthread_join(thread, NULL);
	printf("thread %zu\n", used(&a));
}

static struct area signal_area;

static NOINLINE void on_signal(int number)
{
	(void)number;
	signal_area.frame = (uintptr_t)__builtin_frame_address(0);
	calls();
}

static void handler_measure(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { 0 };

	signal_area =
		area_make((size_t)MINSIGSTKSZ + 4096); /* what the kernel itself saves there */
	stack.ss_sp = signal_area.start;
	stack.ss_size = signal_area.bytes;
	if (sigaltstack(&stack, NULL) != 0)
		abort();
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	printf("handler %zu\n", used(&signal_area));
}

static struct area context_area;
static ucontext_t outside, inside;

static void in_context(void)
{
	context_area.frame = (uintptr_t)__builtin_frame_address(0);
	dive(DEPTH);
}

static void context_measure(void)
{
	context_area.bytes = 32768;
	context_area.start = malloc(context_area.bytes);
	memset(context_area.start, PAINT, context_area.bytes);
	getcontext(&inside);
	inside.uc_stack.ss_sp = context_area.start;
	inside.uc_stack.ss_size = context_area.bytes;
	inside.uc_link = &outside;
	makecontext(&inside, in_context, 0);
	swapcontext(&outside, &inside);
	printf("context %zu\n", used(&context_area));
	free(context_area.start);
}

int main(void)
{
	thread_measure();
	handler_measure();
	context_measure();
	return 0;
}
