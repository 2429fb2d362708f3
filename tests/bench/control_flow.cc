/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocations where control does not simply call and return: in coroutines that switch stacks,
 * while an exception unwinds and where it is caught, in functions left by longjmp, and in code made
 * at run time, with a frame pointer or without anything that describes it. Each kind of allocation
 * has a size of its own, and the program prints how many it made of each: "SIZE ALLOCATIONS". Run
 * plain and under each profiler by tests/bench/many_stacks.py, in check mode by
 * tests/e2e/stacks.py.
 *
 * Usage: control_flow coroutines|exceptions|longjmp|jit-frame|jit-bare ALLOCATIONS
 *        control_flow plugins ALLOCATIONS FOLDER
 */
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define KEEP()	 __asm__ volatile("" ::: "memory") /* also: no tail call */

namespace
{

enum size {
	GUARDED,
	IN_FLIGHT,
	CAUGHT,
	LEFT,
	LANDED,
	IN_COROUTINE,
	BETWEEN,
	JITTED,
	PLUGGED,
	SIZES
};

const size_t bytes[SIZES] = { 1001, 1003, 1005, 1007, 1009, 1011, 1013, 1015, 1017 };
const unsigned COROUTINES = 64, STACK_BYTES = 64 << 10, DEPTH_MOST = 16;
const unsigned PLUGIN_CALLS = 20;
const unsigned STUBS = 256, STUB_BYTES = 64,
	       STUB_LIFE = 64; /* calls of a stub until it is made anew */

uint64_t made[SIZES], left, seed = 1;

unsigned random_next()
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33);
}

void counted(size which)
{
	made[which]++;
	left -= left > 0;
}

/* Inlined, so that the caller's frame is the innermost one. */
inline __attribute__((always_inline)) void *allocate(size which)
{
	void *volatile block = malloc(bytes[which]);

	counted(which);
	return block;
}

/* ---- exceptions ---- */

struct guard {
	void *block;
	guard() : block(allocate(GUARDED))
	{
	}
	NOINLINE ~guard()
	{
		free(block);
		free(allocate(IN_FLIGHT));
	}
};

NOINLINE void descend_throwing(unsigned depth, unsigned catcher)
{
	guard here;

	if (depth == 0)
		throw catcher;
	if (depth != catcher)
		return descend_throwing(depth - 1, catcher);
	try {
		descend_throwing(depth - 1, catcher);
	} catch (unsigned) {
		free(allocate(CAUGHT));
	}
}

NOINLINE void exceptions()
{
	while (left) {
		unsigned depth = 1 + random_next() % (DEPTH_MOST - 1);

		descend_throwing(depth, 1 + random_next() % depth);
	}
}

/* ---- longjmp ---- */

jmp_buf landing;
void *abandoned[DEPTH_MOST];

NOINLINE void leave()
{
	longjmp(landing, 1);
}

NOINLINE void descend_leaving(unsigned depth, void (*out)())
{
	abandoned[depth] = allocate(LEFT);
	if (depth)
		descend_leaving(depth - 1, out);
	else
		out();
	KEEP();
}

NOINLINE void land(unsigned depth)
{
	if (!setjmp(landing))
		descend_leaving(depth, leave);
	free(allocate(LANDED));
}

NOINLINE void longjmps()
{
	while (left) {
		unsigned depth = random_next() % DEPTH_MOST;

		land(depth);
		for (unsigned i = 0; i <= depth; i++)
			free(abandoned[i]);
	}
}

/* ---- coroutines ---- */

ucontext_t scheduler, coroutine[COROUTINES];

NOINLINE void descend_yielding(unsigned which, unsigned depth)
{
	void *block = allocate(IN_COROUTINE);

	if (depth)
		descend_yielding(which, depth - 1);
	else
		swapcontext(&coroutine[which], &scheduler);
	free(block);
}

void coroutine_main(int which)
{
	for (unsigned turn = 0;; turn++)
		descend_yielding((unsigned)which, ((unsigned)which + turn) % DEPTH_MOST);
}

NOINLINE void coroutines()
{
	for (unsigned i = 0; i < COROUTINES; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		coroutine[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&coroutine[i], (void (*)())coroutine_main, 1, (int)i);
	}
	for (unsigned i = 0; left; i++) {
		swapcontext(&scheduler, &coroutine[i % COROUTINES]);
		free(allocate(BETWEEN));
	}
}

/* ---- code made at run time ---- */

#ifdef __x86_64__
typedef void *stub_function(size_t bytes);

struct code {
	unsigned char *at;
	void put(std::initializer_list<unsigned char> more)
	{
		for (unsigned char c : more)
			*at++ = c;
	}
	template <class T> void put_value(T value)
	{
		memcpy(at, &value, sizeof(value));
		at += sizeof(value);
	}
};

/* Reserves some room on the stack, more for each variant, and calls malloc. */
void stub_make(unsigned char *where, bool frame, unsigned variant)
{
	uint32_t room = 16 * variant + (frame ? 0 : 8);
	code c = { where };

	if (frame)
		c.put({ 0x55, 0x48, 0x89, 0xe5 }); /* push rbp; mov rbp, rsp */
	c.put({ 0x48, 0x81, 0xec }); /* sub rsp, room */
	c.put_value(room);
	c.put({ 0x48, 0xb8 }); /* mov rax, malloc */
	c.put_value((uint64_t)(uintptr_t)malloc);
	c.put({ 0xff, 0xd0 }); /* call rax */
	c.put({ 0x48, 0x81, 0xc4 }); /* add rsp, room */
	c.put_value(room);
	if (frame)
		c.put({ 0x5d }); /* pop rbp */
	c.put({ 0xc3 });
}

NOINLINE void stub_call(stub_function *stub)
{
	void *volatile block = stub(bytes[JITTED]);

	counted(JITTED);
	free(block);
}

/* Any stub, and after STUB_LIFE calls on average another one at its place. */
NOINLINE void jit(bool frame)
{
	unsigned char *page = (unsigned char *)mmap(NULL, STUBS * STUB_BYTES,
		PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(3);
	for (unsigned i = 0; i < STUBS; i++)
		stub_make(page + i * STUB_BYTES, frame, i % 4);
	while (left) {
		unsigned number = random_next(), which = number % STUBS;

		if (number / STUBS % STUB_LIFE == 0)
			stub_make(page + which * STUB_BYTES, frame, number / STUBS / STUB_LIFE % 4);
		stub_call((stub_function *)(void *)(page + which * STUB_BYTES));
	}
}
#else
void jit(bool)
{
	exit(3);
}
#endif

void jit_frame()
{
	jit(true);
}

void jit_bare()
{
	jit(false);
}

/* ---- plugins loaded and unloaded, each at the place of the one before ---- */

const char *plugin_folder;

NOINLINE void plugin_visit(const char *name)
{
	char path[4096];
	void *handle, *(*plugged)(size_t);

	snprintf(path, sizeof(path), "%s/%s", plugin_folder, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		exit(3);
	plugged = (void *(*)(size_t))dlsym(handle, "plugin_allocate");
	for (unsigned i = 0; i < PLUGIN_CALLS; i++) {
		void *block = plugged(bytes[PLUGGED]);

		counted(PLUGGED);
		free(block);
	}
	dlclose(handle);
}

NOINLINE void plugins()
{
	for (bool two = false; left || two;
		two = !two) /* one call: the stacks differ in the plugin alone */
		plugin_visit(two ? "two.so" : "one.so");
}

const struct {
	const char *name;
	void (*run)();
} ways[] = {
	{ "coroutines", coroutines },
	{ "exceptions", exceptions },
	{ "longjmp", longjmps },
	{ "jit-frame", jit_frame },
	{ "jit-bare", jit_bare },
	{ "plugins", plugins },
};

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	plugin_folder = argc > 3 ? argv[3] : ".";
	left = strtoull(argv[2], NULL, 10);
	for (auto &way : ways)
		if (!strcmp(way.name, argv[1]))
			way.run();
	for (int i = 0; i < SIZES; i++)
		if (made[i])
			printf("%zu %llu\n", bytes[i], (unsigned long long)made[i]);
	return 0;
}
