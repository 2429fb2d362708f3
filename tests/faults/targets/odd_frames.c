/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates below frames that an unwinder cannot follow, or follows wrongly if it trusts them: code
 * made at run time, with and without a frame pointer, alone and by the hundred; call frame
 * information that does not move outwards, that says that nothing is known, that points into
 * nothing; and rbp with data in it that points into a stack which the thread has had, and which is
 * gone.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "tests/faults/targets/witness.h"

#define STACK_BYTES 65536u
#define ROUNDS	    200

typedef void (*caller)(void (*function)(void));

static NOINLINE void allocate(void)
{
	free(malloc(88));
	KEEP_FRAME();
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char with_rbp[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
/* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
static const unsigned char without_rbp[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4,
	0x08, 0xc3 };
/* push %rbp; mov %rsi, %rbp (garbage); call *%rdi; pop %rbp; ret */
static const unsigned char garbage_rbp[] = { 0x55, 0x48, 0x89, 0xf5, 0xff, 0xd7, 0x5d, 0xc3 };

static caller code_make(const unsigned char *bytes, size_t count)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	caller made;

	memcpy(page, bytes, count);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	memcpy(&made, &page, sizeof(made));
	return made;
}

static caller nested_code;
static int nested_left;

static void nest(void)
{
	if (nested_left-- > 0)
		nested_code(nest);
	else
		allocate();
	KEEP_FRAME();
}

static void by_code(const unsigned char *bytes, size_t count)
{
	nested_code = code_make(bytes, count);
	for (int i = 0; i < ROUNDS; i++) {
		nested_code(allocate);
		nested_left = i;
		nest();
	}
	allocate();
}

/* Assembly of the same body, each with other call frame information about it. */
#define ODD_FRAME(name, information)                                                               \
	void name(void (*function)(void));                                                         \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                \
		".cfi_startproc\n"                                                                 \
		"sub $8, %rsp\n" information "\n"                                                  \
		"call *%rdi\n"                                                                     \
		"add $8, %rsp\n"                                                                   \
		"ret\n"                                                                            \
		".cfi_endproc\n.size " #name ", . - " #name "\n")

ODD_FRAME(stands_still, ".cfi_def_cfa_offset 0");
ODD_FRAME(goes_back, ".cfi_def_cfa_offset -64");
ODD_FRAME(goes_far, ".cfi_def_cfa_offset 0x40000000");
ODD_FRAME(is_odd, ".cfi_def_cfa_offset 13");
ODD_FRAME(is_outermost, ".cfi_undefined rip");
ODD_FRAME(by_data, ".cfi_def_cfa rbx, 8");
/* DW_CFA_def_cfa_expression: a call of an expression, which there is none of */
ODD_FRAME(by_odd_expression, ".cfi_escape 0x0f, 0x03, 0x98, 0x01, 0x00");
/* DW_CFA_def_cfa_expression: *(0) */
ODD_FRAME(by_null, ".cfi_escape 0x0f, 0x02, 0x30, 0x06");

static void by_information(void)
{
	static const caller odd[] = { stands_still, goes_back, goes_far, is_odd, is_outermost,
		by_data, by_odd_expression, by_null };

	for (int i = 0; i < ROUNDS; i++)
		for (unsigned j = 0; j < sizeof(odd) / sizeof(odd[0]); j++)
			odd[j](allocate);
}

/* Its frame has no fixed size, so the compiler finds it by rbp; `borrow` leaves other data there.
 */
static NOINLINE void found_by_rbp(
	unsigned bytes, void (*borrow)(void (*)(void), uint64_t), uint64_t rbp)
{
	char *space = __builtin_alloca(bytes);

	__asm__ volatile("" : : "r"(space) : "memory");
	borrow(allocate, rbp);
	KEEP_FRAME();
}

void borrow_rbp(void (*function)(void), uint64_t rbp);

__asm__(".text\n.globl borrow_rbp\n.type borrow_rbp, @function\n"
	"borrow_rbp:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	"mov %rsi, %rbp\n"
	"call *%rdi\n"
	"pop %rbp\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n.size borrow_rbp, . - borrow_rbp\n");

static char *stacks; /* the lower one for what goes wrong, the upper one, after a page that cannot
			be read, for what comes and goes */
static ucontext_t main_context, low_context, high_context;

static NOINLINE void deep(int depth)
{
	volatile char frame[200] = { 0 };

	if (depth > frame[0])
		deep(depth - 1);
	else
		allocate();
	KEEP_FRAME();
}

static void on_high(void)
{
	deep(50);
}

static void context_run(ucontext_t *to, ucontext_t *from, char *stack, void (*function)(void))
{
	getcontext(to);
	to->uc_stack.ss_sp = stack;
	to->uc_stack.ss_size = STACK_BYTES;
	to->uc_link = from;
	makecontext(to, function, 0);
	swapcontext(from, to);
}

/* The upper stack is used, and then is gone or may not be read any more. Outwards is upwards, so
 * rbp may well point there. */
static void on_low(void)
{
	for (unsigned i = 0; i < 40; i++) {
		char *high = mmap(stacks + STACK_BYTES + 4096 * (1 + i % 3), STACK_BYTES,
			PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		uint64_t top = (uint64_t)(uintptr_t)high + STACK_BYTES;

		context_run(&high_context, &low_context, high, on_high);
		for (uint64_t at = top - 8192; at < top; at += 512)
			found_by_rbp(32 + i, borrow_rbp, at);
		if (i % 2)
			mprotect(high, STACK_BYTES, PROT_NONE);
		else
			munmap(high, STACK_BYTES);
		for (uint64_t at = top - 8192; at < top; at += 512)
			found_by_rbp(32 + i, borrow_rbp, at);
	}
}

static void by_old_stacks(void)
{
	stacks = mmap(NULL, 4 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stacks, STACK_BYTES, PROT_READ | PROT_WRITE);
	context_run(&low_context, &main_context, stacks, on_low);
}

/* A thread whose stack has a mapping right above it, into which rbp points, and which then is gone.
 */
static void *under_buffer(void *buffer)
{
	uint64_t start = (uint64_t)(uintptr_t)buffer;

	for (int gone = 0; gone < 2; gone++) {
		for (uint64_t at = start; at < start + 8192; at += 512)
			found_by_rbp(32, borrow_rbp, at);
		munmap(buffer, STACK_BYTES);
	}
	return NULL;
}

static void by_buffers(void)
{
	char *both = mmap(
		NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, both, STACK_BYTES);
	witness_need(pthread_create(&t, &attr, under_buffer, both + STACK_BYTES) == 0, "no thread");
	pthread_join(t, NULL);
}

int main(void)
{
	by_code(with_rbp, sizeof(with_rbp));
	by_code(without_rbp, sizeof(without_rbp));
	by_code(garbage_rbp, sizeof(garbage_rbp));
	by_information();
	by_old_stacks();
	by_buffers();
	witness_threads(1);
	witness_print("end");
	return 0;
}
