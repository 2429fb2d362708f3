// SPDX-License-Identifier: GPL-3.0-or-later
// All that is hard to unwind, in one process: four threads take turns with a handler on an alternate
// stack, coroutines on mapped and on malloc'ed stacks, over-aligned locals, alloca, longjmp and throw
// over frames that allocate; a fifth calls through libraries that take each other's place. Each step
// goes to another depth, and the kinds lie in each other. For HEAPTOP_UNWINDER=check, which counts the
// stacks that came out otherwise than the reference's. Usage: unwind_hazards STEPS SEED FILE
// FILE
#include <alloca.h>
#include <csetjmp>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/faults/targets/witness.h"

#define THREADS	    4
#define STACK_BYTES (256u << 10)
#define CALLS	    50 // of a library each time that it is loaded

namespace
{

struct state {
	unsigned seed;
	int nested; // kinds that the stack has
	jmp_buf back;
	ucontext_t here, there;
	char *mapped, *allocated;
};

thread_local state *me;
int steps;
char **files;

int dice(int sides)
{
	me->seed = me->seed * 1664525u + 1013904223u;
	return (int)((me->seed >> 8) % (unsigned)sides);
}

void step();

NOINLINE void allocate()
{
	void *p = witness_malloc((size_t)dice(500) + 1);

	p = realloc(p, (size_t)dice(900) + 1);
	free(p);
	KEEP_FRAME();
}

NOINLINE void dive(int depth, void (*inner)())
{
	if (depth > 0)
		dive(depth - 1, inner);
	else
		inner();
	KEEP_FRAME();
}

NOINLINE void with_alloca(int bytes, void (*inner)())
{
	volatile char *room = static_cast<char *>(alloca((size_t)bytes));

	room[0] = 0;
	dive(dice(5), inner);
	KEEP_FRAME();
}

NOINLINE void with_aligned(int bytes, void (*inner)())
{
	alignas(128) volatile char room[300];

	room[0] = (char)bytes;
	with_alloca(bytes + room[0] % 2, inner);
	KEEP_FRAME();
}

void on_signal(int)
{
	dive(dice(10), allocate);
}

void signalled()
{
	pthread_kill(pthread_self(), SIGUSR1);
}

void jumps()
{
	longjmp(me->back, 1);
}

NOINLINE void jumped_over()
{
	if (setjmp(me->back) == 0)
		with_aligned(100, jumps);
	allocate();
}

struct guard {
	void *held = witness_malloc(80);
	~guard()
	{
		free(held);
		allocate();
	}
};

void throws()
{
	throw 1;
}

NOINLINE void thrown_through()
{
	guard g;

	with_aligned(dice(300) + 1, throws);
}

void thrown_over()
{
	try {
		dive(dice(20), thrown_through);
	} catch (int) {
		allocate();
	}
}

void co_start()
{
	with_aligned(64, allocate);
	dive(dice(20), step);
}

NOINLINE void in_coroutine()
{
	if (me->nested > 1) { // its stack is in use
		allocate();
		return;
	}
	getcontext(&me->there);
	me->there.uc_stack.ss_sp = dice(2) ? me->mapped : me->allocated;
	me->there.uc_stack.ss_size = STACK_BYTES;
	me->there.uc_link = &me->here;
	makecontext(&me->there, co_start, 0);
	swapcontext(&me->here, &me->there);
}

// One kind around another, or around an allocation.
void step()
{
	static void (*const kinds[])() = { allocate, signalled, jumped_over, thrown_over, in_coroutine, step };
	void (*inner)() = me->nested < 4 ? kinds[dice(6)] : allocate;

	me->nested++;
	switch (dice(3)) {
	case 0:
		dive(dice(30), inner);
		break;
	case 1:
		with_alloca(dice(2000) + 1, inner);
		break;
	default:
		with_aligned(dice(100) + 1, inner);
	}
	me->nested--;
	KEEP_FRAME();
}

void thread_begin(state *s, unsigned seed)
{
	stack_t alternate = {};

	me = s;
	s->seed = seed;
	s->mapped = static_cast<char *>(
		mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	s->allocated = static_cast<char *>(malloc(STACK_BYTES));
	alternate.ss_sp = malloc(STACK_BYTES);
	alternate.ss_size = STACK_BYTES;
	sigaltstack(&alternate, nullptr);
}

void *run(void *seed)
{
	state s = {};

	thread_begin(&s, (unsigned)(uintptr_t)seed);
	for (int i = 0; i < steps; i++)
		step();
	return nullptr;
}

void from_library(int depth)
{
	dive(depth, allocate);
}

void library_visit(const char *file)
{
	void *handle = dlopen(file, RTLD_NOW), *symbol;
	void (*hazard_call)(void (*)(int), int);

	witness_need(handle != nullptr, "a library cannot be loaded");
	symbol = dlsym(handle, "hazard_call");
	memcpy(&hazard_call, &symbol, sizeof(symbol));
	for (int i = 0; i < CALLS; i++)
		hazard_call(from_library, dice(10));
	dlclose(handle);
}

void *load(void *seed)
{
	state s = {};

	thread_begin(&s, (unsigned)(uintptr_t)seed);
	for (int i = 0; i < steps / CALLS; i++)
		library_visit(files[i % 2]);
	return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
	struct sigaction action = {};
	pthread_t t[THREADS + 1];

	if (argc < 5)
		return 2;
	steps = atoi(argv[1]);
	files = argv + 3;
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (uintptr_t i = 0; i <= THREADS; i++)
		pthread_create(&t[i], nullptr, i < THREADS ? run : load,
			(void *)(i + 1 + 1000 * strtoul(argv[2], nullptr, 10)));
	for (pthread_t each : t)
		pthread_join(each, nullptr);
	witness_threads(1);
	witness_print("end");
	return 0;
}
