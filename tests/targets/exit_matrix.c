/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaking programs, to be ended in every way (exit_ways.h). Their classes are memcheck's:
 * tests/e2e/exit_matrix.py. */
#include "tests/targets/exit_ways.h"

#include <semaphore.h>

#define PILE   512
#define HALVES 10

void library_hold(void);

struct node {
	struct node *next;
	char room[40];
};

static void *volatile held, *volatile inside, *volatile hand_over;
static void *volatile halves[HALVES];
static __thread void *volatile in_tls;
static sem_t thread_ready;

__attribute__((noinline)) static void *block(size_t size)
{
	void *p = malloc(size);

	memset(p, 0, size);
	return p;
}

/* ---- nothing points to them ---- */

/* What it returned is not kept: volatile, so that no compiler leaves the calls out. */
static void *(*volatile allocate)(size_t) = malloc;
static void *(*volatile allocate_zeroed)(size_t, size_t) = calloc;

static void seed(void)
{
	allocate(100);
	allocate(100);
	allocate_zeroed(16, 16);
	finish();
}

/* The pointers lie as deep as exit calls, and it does not write all that its frames hold; next to
 * this frame there are none, since compilers leave gaps in frames of the program itself. */
__attribute__((noinline)) static void pile_up(void)
{
	void *volatile pile[PILE];
	volatile char gap[256];

	for (size_t i = 0; i < PILE; i++)
		pile[i] = NULL;
	pile[0] = block(100);
	for (size_t i = 1; i < PILE; i++)
		pile[i] = pile[0];
	for (size_t i = 0; i < sizeof(gap); i++)
		gap[i] = 0;
}

static void residue(void)
{
	pile_up();
	finish();
}

__attribute__((noinline)) static void list_make(void)
{
	struct node *first = NULL;

	for (int i = 0; i < 10; i++) {
		struct node *n = (struct node *)block(sizeof(*n));

		n->next = first;
		first = n;
	}
}

static void list(void)
{
	list_make();
	finish();
}

__attribute__((noinline)) static void cycle_make(void)
{
	struct node *first = (struct node *)block(sizeof(*first)), *last = first;

	for (int i = 0; i < 4; i++) {
		last->next = (struct node *)block(sizeof(*last));
		last = last->next;
	}
	last->next = first;
}

static void cycle(void)
{
	cycle_make();
	finish();
}

/* ---- something does ---- */

static void interior(void)
{
	inside = (char *)block(100) + 32;
	finish();
}

static void global(void)
{
	held = block(100);
	finish();
}

static void frame(void)
{
	void *volatile here[2] = { block(100), NULL };

	finish();
	here[1] = here[0];
}

/* In a register that calls preserve, and nowhere else. */
static void in_register(void)
{
	hand_over = block(100);
#ifdef __aarch64__
	__asm__ volatile("ldr x19, %0\n\tstr xzr, %0\n\tblr %1"
			 : "+m"(hand_over)
			 : "r"(finish)
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			 "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0", "v1",
			 "v2", "v3", "v4", "v5", "v6", "v7", "memory", "cc");
#else
	__asm__ volatile("mov %0, %%r12\n\tmovq $0, %0\n\t"
			 "mov %%rsp, %%r13\n\tand $-16, %%rsp\n\tcall *%1\n\tmov %%r13, %%rsp"
			 : "+m"(hand_over)
			 : "b"(finish)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
			 "r13", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			 "memory", "cc");
#endif
}

/* ---- of threads ---- */

static void *hold_in_tls(void *stays)
{
	in_tls = block(100);
	sem_post(&thread_ready);
	while (stays)
		pause();
	return NULL;
}

static void tls_running(void)
{
	pthread_t t;

	pthread_create(&t, NULL, hold_in_tls, &thread_ready);
	while (sem_wait(&thread_ready) != 0)
		;
	finish();
}

static void tls_joined(void)
{
	pthread_t t;

	pthread_create(&t, NULL, hold_in_tls, NULL);
	pthread_join(t, NULL);
	finish();
}

/* ---- what changes at the end ---- */

static void halves_end(void)
{
	for (size_t i = 0; i < HALVES; i++) {
		if (i % 2)
			free(halves[i]);
		halves[i] = NULL;
	}
}

static void half(void)
{
	for (size_t i = 0; i < HALVES; i++)
		halves[i] = block(100 + i);
	finish();
}

static void library(void)
{
	library_hold();
	finish();
}

static void main_frame(void)
{
	finish();
}

static const struct exit_case cases[] = {
	{ "seed", seed },
	{ "residue", residue },
	{ "list", list },
	{ "cycle", cycle },
	{ "interior", interior },
	{ "global", global },
	{ "frame", frame },
	{ "main_frame", main_frame },
	{ "register", in_register },
	{ "tls_running", tls_running },
	{ "tls_joined", tls_joined },
	{ "half", half },
	{ "library", library },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	void *volatile here[2] = { NULL, NULL };
	int status;

	if (argc != 3)
		return 2;
	sem_init(&thread_ready, 0, 0);
	atexit(halves_end);
	if (strcmp(argv[1], "main_frame") == 0)
		here[0] = block(100);
	status = exit_by_way(cases, argv[1], argv[2]);
	here[1] = here[0];
	return status;
}
