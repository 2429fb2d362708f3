/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the thread that ends a program still holds. The innermost frames on its stack belong to
 * libc's exit, to the loader that runs destructors, and to our library. Their unwritten slots
 * keep words of earlier calls, so they do not count. The program's part begins at the caller of
 * exit, with the callee-saved registers as they were in that frame. libunwind unwinds
 * (libunwind-ptrace(3)). On the thread that traces the process.
 */
#ifndef SRC_LEAK_ACCESS_EXIT_STACK_H
#define SRC_LEAK_ACCESS_EXIT_STACK_H

#include "src/leak/access/space.h"

/* Those that a function keeps for its caller: in the order of struct user_regs_struct, from number
 * LEAK_SAVED_FIRST on. */
#ifdef __aarch64__
#define LEAK_SAVED_FIRST     19u /* x19 to x29 */
#define LEAK_SAVED_REGISTERS 11u
#else
#define LEAK_SAVED_FIRST     0u /* r15 to r12, rbp, rbx */
#define LEAK_SAVED_REGISTERS 6u
#endif
/* Runs of the program's frames. Frames of exit may lie between them: an atexit handler may call
 * exit. */
#define LEAK_EXIT_PARTS 16u
#define LEAK_EXIT_DEAD	64u

struct leak_exit_stack {
	pid_t tid; /* 0: unknown, and all that lies above the stack pointer counts */
	/* Words that do not count, by address. Handlers' stacks may lie anywhere. */
	struct leak_range dead[LEAK_EXIT_DEAD];
	size_t deads;
	/* Registers in the innermost frame of each run of the program's frames. */
	uint64_t saved[LEAK_EXIT_PARTS][LEAK_SAVED_REGISTERS];
	size_t parts; /* 0: the program holds nothing on this stack */
};

/* For thread `tid`, which is stopped at its end. No result (e->tid 0) if a frame cannot be unwound
 * before the caller of exit is found. */
void leak_exit_stack_find(struct leak_exit_stack *e, struct leak_space *space, pid_t tid);

#endif
