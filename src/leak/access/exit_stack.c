/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's part of the stack at its end (exit_stack.h). */
#include "src/leak/access/exit_stack.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)
#include <libunwind-ptrace.h>

/* Deeper frames all count. Some 50,000 are unwound per second, so this takes 10 ms. */
#define FRAMES_MAX 512u

enum owner { PROGRAM, LIBC, LOADER_OR_OURS };

/*
 * What the kernel pushes for a handler, from the stack pointer of its frame on (struct
 * rt_sigframe after pretcode: arch/x86/include/asm/sigframe.h): ucontext, siginfo, a gap, the
 * vector registers, a gap. It writes siginfo only for handlers that take one, and never the gaps
 * and the reserved words.
 */
#define UCONTEXT_BYTES	     304u
#define SIGINFO_BYTES	     128u
#define UCONTEXT_STACK	     16u /* uc_stack, sigaltstack(2) before: its start */
#define UCONTEXT_STACK_BYTES 32u
#define FPSTATE_GAP_MAX	     64u /* its alignment */
#define UCONTEXT_FPSTATE     224u /* uc_mcontext.fpstate; the words after it are reserved */
#define UCONTEXT_RESERVED    232u /* not written by the kernel, */
#define UCONTEXT_SIGMASK     296u /* up to here */
#define FPSTATE_MAGIC	     464u /* in the vector registers: struct _fpx_sw_bytes, */
#define FPSTATE_MAGIC1	     0x46505853u
#define FPSTATE_LEGACY	     512u /* size without that; with it, the second word is the size */
#define RED_ZONE	     128u
#define SIGNAL_FRAME	     4096u /* with the vector registers of AVX-512, rounded up */
#define SIGNAL_NUMBER_MAX    64u

struct frame {
	uint64_t pc, sp;
	bool interrupted; /* by a signal: the next inner frame is the kernel's */
	enum owner owner;
	const struct leak_map *stack; /* the mapping that sp is in */
};

struct unwinding {
	struct leak_space *space;
	unw_cursor_t cursor;
	struct leak_exit_stack *out;
	uint64_t end_sp; /* the stack pointer at the end */
	uint64_t run; /* where a run of frames begins that are not the program's; 0: none */
	const struct leak_map *run_stack;
	bool open; /* the frame before was the program's, or of a function it called */
	bool run_is_exit; /* that run is of exit, of the loader, or ours */
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum owner owner_of(const struct leak_space *space, uint64_t pc)
{
	const struct leak_map *m = leak_space_map(space, pc);
	const char *slash = m ? strrchr(m->path, '/') : NULL, *name = slash ? slash + 1 : "";

	if (begins(name, "libc.so.") || begins(name, "libc-2.") || begins(name, "libpthread"))
		return LIBC;
	return begins(name, "ld-linux") || begins(name, "ld-2.") || begins(name, "libheaptop")
		       ? LOADER_OR_OURS
		       : PROGRAM;
}

static bool frame_read(struct unwinding *u, struct frame *f)
{
	unw_word_t pc = 0, sp = 0;

	if (unw_get_reg(&u->cursor, UNW_REG_IP, &pc) != 0 ||
		unw_get_reg(&u->cursor, UNW_REG_SP, &sp) != 0 || pc == 0)
		return false;
	/* A return address may lie after a function that ends with its call. */
	*f = (struct frame){ .pc = pc,
		.sp = sp,
		.owner = owner_of(u->space, pc - 1),
		.interrupted = unw_is_signal_frame(&u->cursor) > 0,
		.stack = leak_space_map(u->space, sp) };
	return f->stack != NULL;
}

/* Whether a frame of libc is that of exit or quick_exit. */
static bool is_exit(struct unwinding *u)
{
	char name[64];
	unw_word_t offset;
	int rc = unw_get_proc_name(&u->cursor, name, sizeof(name), &offset);

	return (rc == 0 || rc == -UNW_ENOMEM) &&
	       (strcmp(name, "exit") == 0 || strcmp(name, "quick_exit") == 0);
}

static void saved_read(struct unwinding *u, uint64_t *saved)
{
#ifdef __aarch64__
	static const int number[LEAK_SAVED_REGISTERS] = { UNW_AARCH64_X19, UNW_AARCH64_X20,
		UNW_AARCH64_X21, UNW_AARCH64_X22, UNW_AARCH64_X23, UNW_AARCH64_X24, UNW_AARCH64_X25,
		UNW_AARCH64_X26, UNW_AARCH64_X27, UNW_AARCH64_X28, UNW_AARCH64_X29 };
#else
	static const int number[LEAK_SAVED_REGISTERS] = { UNW_X86_64_R15, UNW_X86_64_R14,
		UNW_X86_64_R13, UNW_X86_64_R12, UNW_X86_64_RBP, UNW_X86_64_RBX };
#endif

	for (unsigned i = 0; i < LEAK_SAVED_REGISTERS; i++) {
		unw_word_t value;

		saved[i] = unw_get_reg(&u->cursor, number[i], &value) == 0 ? value : 0;
	}
}

/* The words of [from, to) do not count. They do if the table of such ranges is full. */
static void dead_add(struct unwinding *u, uint64_t from, uint64_t to)
{
	if (from < to && u->out->deads < LEAK_EXIT_DEAD)
		u->out->dead[u->out->deads++] = (struct leak_range){ from, to };
}

#ifdef __x86_64__
static uint64_t fpstate_bytes(struct unwinding *u, uint64_t fpstate)
{
	uint64_t magic_and_size;

	if (!leak_space_word(u->space, fpstate + FPSTATE_MAGIC, &magic_and_size) ||
		(uint32_t)magic_and_size != FPSTATE_MAGIC1)
		return FPSTATE_LEGACY;
	return magic_and_size >> 32;
}

/* A handler's alternate stack, below the frame that the kernel pushed on it, holds only words left
 * over from calls that have returned. */
static void handler_stack_cut(struct unwinding *u, uint64_t frame)
{
	uint64_t start = 0, bytes = 0;

	if (leak_space_word(u->space, frame + UCONTEXT_STACK, &start) &&
		leak_space_word(u->space, frame + UCONTEXT_STACK_BYTES, &bytes) &&
		u->end_sp - start < bytes && frame - start < bytes)
		dead_add(u, start, u->end_sp);
}

/*
 * Excludes what the kernel did not write of the frame that it pushed at `sp` when it interrupted
 * `f`, perhaps on another stack. Functions of libc that a signal interrupts are in system calls,
 * and keep nothing in their red zone.
 */
static void signal_cut(struct unwinding *u, uint64_t sp, const struct frame *f, bool same_stack)
{
	uint64_t siginfo = sp + UCONTEXT_BYTES, end = siginfo + SIGINFO_BYTES, number, fpstate;

	handler_stack_cut(u, sp);
	/* Its first half word is the signal's number. The next is an error, which the kernel leaves
	 * 0. */
	if (!leak_space_word(u->space, siginfo, &number) ||
		!leak_space_word(u->space, sp + UCONTEXT_FPSTATE, &fpstate))
		return;
	if (fpstate < end || fpstate - end > FPSTATE_GAP_MAX)
		fpstate = end;
	dead_add(u, sp + UCONTEXT_RESERVED, sp + UCONTEXT_SIGMASK);
	dead_add(u, number == 0 || number > SIGNAL_NUMBER_MAX ? siginfo : end, fpstate);
	if (fpstate == end || !same_stack)
		return;
	fpstate += fpstate_bytes(u, fpstate);
	dead_add(u, fpstate, f->owner == LIBC ? f->sp : f->sp - RED_ZONE);
}
#else
/* The kernel of aarch64 writes most of its frame: all of it counts. */
static void signal_cut(struct unwinding *u, uint64_t sp, const struct frame *f, bool same_stack)
{
}
#endif

/* The frames before one of the program may have been exit's, or on another stack. */
static void program_take(struct unwinding *u, const struct frame *f)
{
	bool apart = u->run != 0 && u->run_stack != f->stack;

	if (u->run != 0 && (u->run_is_exit || u->out->parts == 0)) {
		if (!apart)
			dead_add(u, u->run, f->sp);
		u->open = false;
	}
	if (!u->open && u->out->parts < LEAK_EXIT_PARTS)
		saved_read(u, u->out->saved[u->out->parts++]);
	u->open = true;
	u->run = 0;
	u->run_is_exit = false;
}

/* The kernel may push a signal frame below the stack pointer at any time: nothing is kept there. */
static uint64_t below(const struct frame *f)
{
	return f->sp - f->stack->start > SIGNAL_FRAME ? f->sp - SIGNAL_FRAME : f->stack->start;
}

static void foreign_take(struct unwinding *u, const struct frame *f)
{
	if (u->run == 0) {
		u->run = u->out->parts == 0 && u->end_sp == f->sp ? below(f) : f->sp;
		u->run_stack = f->stack;
	}
	u->run_is_exit |= f->owner == LOADER_OR_OURS || is_exit(u);
}

/* True: the stack was followed to the caller of exit, or to its end. */
static bool frames_take(struct unwinding *u)
{
	struct frame f, inner = { 0 };
	int more = 1;

	for (unsigned i = 0; i < FRAMES_MAX && more > 0 && !leak_space_cancelled(u->space); i++) {
		if (!frame_read(u, &f))
			return u->out->parts > 0;
		if (i == 0)
			u->end_sp = f.sp;
		if (f.interrupted)
			signal_cut(u, inner.sp, &f, inner.stack == f.stack);
		if (f.owner == PROGRAM)
			program_take(u, &f);
		else
			foreign_take(u, &f);
		inner = f;
		more = unw_step(&u->cursor);
	}
	/* A thread that has returned, or has called pthread_exit: none of its stack is the
	 * program's. */
	if (u->out->parts == 0 && more == 0)
		dead_add(u, u->run, f.sp);
	return u->out->parts > 0 || more == 0;
}

void leak_exit_stack_find(struct leak_exit_stack *e, struct leak_space *space, pid_t tid)
{
	unw_addr_space_t target = unw_create_addr_space(&_UPT_accessors, 0);
	void *thread = _UPT_create(tid);
	struct unwinding u = { .space = space, .out = e };

	*e = (struct leak_exit_stack){ 0 };
	if (target && thread && unw_init_remote(&u.cursor, target, thread) == 0 && frames_take(&u))
		e->tid = tid;
	if (thread)
		_UPT_destroy(thread);
	if (target)
		unw_destroy_addr_space(target);
}
#else
void leak_exit_stack_find(struct leak_exit_stack *e, struct leak_space *space, pid_t tid)
{
	*e = (struct leak_exit_stack){ 0 };
}
#endif
