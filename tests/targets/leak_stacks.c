/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a leak scan may take for a thread's stack, or for none.
 *
 * leak_stacks guarded  two threads whose stacks are one mapping, with guards by MADV_GUARD_INSTALL,
 *                      as glibc 2.42 makes them. Each holds 8 blocks, and has lost 8: their
 *                      pointers are below its stack pointer. "ready", and waits for its input's
 *                      end; status 4: the kernel has no such guards
 * leak_stacks queue    a suspended coroutine's frame has what looks like an ended thread's data,
 *                      and 8 blocks below
 * leak_stacks sbrk     memory that it took by sbrk holds the only block, which is no part of that
 */
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#define NOINLINE    __attribute__((noinline))
#define BLOCKS	    8
#define STACK_BYTES (1u << 20)
#define GUARD_BYTES 4096u

static int ready[2], go[2];

static NOINLINE void lose(int depth)
{
	char room[4096];
	void *volatile lost[BLOCKS];

	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth > 0) {
		lose(depth - 1);
		__asm__ volatile("" : : : "memory"); /* no tail call */
		return;
	}
	for (int i = 0; i < BLOCKS; i++)
		lost[i] = malloc(1000);
	(void)lost[0];
}

static void *hold(void *arg)
{
	void *volatile held[BLOCKS];
	char byte;

	lose(10);
	for (int i = 0; i < BLOCKS; i++)
		held[i] = malloc(100);
	if (write(ready[1], "x", 1) != 1 || read(go[0], &byte, 1) < 0)
		_exit(3);
	for (int i = 0; i < BLOCKS; i++)
		free(held[i]);
	return arg;
}

static int guarded(void)
{
	char *at = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pthread_t thread[2];
	char bytes[2];

	if (pipe(ready) != 0 || pipe(go) != 0 || at == MAP_FAILED)
		return 3;
	for (int i = 0; i < 2; i++) {
		pthread_attr_t a;

		if (madvise(at + i * STACK_BYTES, GUARD_BYTES, MADV_GUARD_INSTALL) != 0)
			return 4;
		pthread_attr_init(&a);
		pthread_attr_setstack(&a, at + i * STACK_BYTES, STACK_BYTES);
		if (pthread_create(&thread[i], &a, hold, NULL) != 0)
			return 3;
		if (read(ready[0], bytes, 1) != 1)
			return 3;
	}
	puts("ready");
	fflush(stdout);
	while (read(0, bytes, 1) > 0)
		;
	if (write(go[1], "xx", 2) != 2)
		return 3;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static ucontext_t first, second;
struct queue {
	struct queue *next, *prev, *owner;
};

static NOINLINE void suspended(struct queue *q)
{
	void *volatile held[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		held[i] = malloc(1000);
	swapcontext(&second, &first);
	q->owner = NULL;
	for (int i = 0; i < BLOCKS; i++)
		free(held[i]);
}

static void coroutine(void)
{
	struct queue q = { &q, &q, &q };

	suspended(&q);
	__asm__ volatile("" : : "r"(&q) : "memory");
}

static int queue(void)
{
	char *at = mmap(
		NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE))
		return 3;
	getcontext(&second);
	second.uc_stack.ss_sp = at + GUARD_BYTES;
	second.uc_stack.ss_size = STACK_BYTES;
	second.uc_link = &first;
	makecontext(&second, coroutine, 0);
	swapcontext(&first, &second);
	return 0;
}

static int sbrk_only(void)
{
	void **root = sbrk(65536);

	if (root == (void **)-1)
		return 3;
	memset(root, 0, 65536);
	root[0] = malloc(1 << 20);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	return strcmp(how, "guarded") == 0 ? guarded()
	       : strcmp(how, "queue") == 0 ? queue()
	       : strcmp(how, "sbrk") == 0  ? sbrk_only()
					   : 2;
}
