/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Builds the frame that the kernel pushes for a signal handler. When a thread returns to its
 * first word, __restore_rt, the kernel restores all registers and the signal mask from it. Pure.
 * Source: Linux arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h.
 */
#ifndef SRC_TRACE_SIGNAL_FRAME_H
#define SRC_TRACE_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#define SIGNAL_FRAME_MOST  (16u << 10) /* bytes, with the vector registers of AVX-512 and AMX */
#define SIGNAL_FRAME_PLAIN 1024u /* without them */
/* By which a frame of ours is known: the word behind its first has this value. The kernel's has
 * there the flags of an alternate stack. */
#define SIGNAL_FRAME_MARK_AT 4u
#define SIGNAL_FRAME_MARK    0x7fffffffu

struct signal_frame {
	const struct user_regs_struct *regs; /* to return to */
	uint64_t mask; /* blocked signals */
	uint64_t restorer; /* __restore_rt */
	const void *vectors; /* as PTRACE_GETREGSET gives them with NT_X86_XSTATE; NULL: none */
	size_t vector_bytes;
};

/* Bytes of the frame; 0: it would be larger than SIGNAL_FRAME_MOST. */
size_t signal_frame_bytes(const struct signal_frame *f);
/*
 * Writes to `out` the frame that will lie at `at`, the highest address not above `below` where it
 * may: a function called with its stack pointer there finds it as aligned as the ABI says. Returns
 * `at`.
 */
uint64_t signal_frame_make(const struct signal_frame *f, uint64_t below, void *out);

#endif
