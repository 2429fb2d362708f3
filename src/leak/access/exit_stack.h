/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the thread that ends a program still holds. On its stack lie, innermost, the frames of
 * libc's exit, of the loader that runs destructors, and of our library. They are not the program's,
 * and their unwritten slots keep what earlier calls left there. So the program's part begins at the
 * caller of exit, with the callee-saved registers as they were in that frame. Unwinding is
 * libunwind's (libunwind-ptrace(3)). On the thread that traces the process.
 */
#ifndef SRC_LEAK_ACCESS_EXIT_STACK_H
#define SRC_LEAK_ACCESS_EXIT_STACK_H

#include "src/leak/access/space.h"

/* rbx, rbp, r12 to r15: in the order and with the indexes of struct user_regs_struct. */
#define LEAK_SAVED_REGISTERS 6u
/* Frames of exit may lie between those of the program, too: a handler of atexit may call exit. */
#define LEAK_EXIT_PARTS 16u
#define LEAK_EXIT_DEAD	64u

struct leak_exit_stack {
	pid_t tid; /* 0: not known, and all that lies above the stack pointer counts */
	/* By address; stacks of handlers and coroutines may lie anywhere. */
	struct leak_range dead[LEAK_EXIT_DEAD];
	size_t deads;
	/* Registers in the innermost of frames of the program that lie together. */
	uint64_t saved[LEAK_EXIT_PARTS][LEAK_SAVED_REGISTERS];
	size_t parts; /* none: the program holds nothing on this stack */
};

/* Of thread `tid`, which stands at its end. Without a result where a frame cannot be unwound before
 * the caller of exit is found. */
void leak_exit_stack_find(struct leak_exit_stack *e, struct leak_space *space, pid_t tid);

#endif
