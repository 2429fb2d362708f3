/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a viewer makes a stopped process copy itself for a leak scan. One of its threads runs a stub
 * of the library's, which makes a child with a copy-on-write copy of the memory; after the copy has
 * ended, it runs another, which reaps it. If the viewer is killed meanwhile, each stub restores
 * the thread itself; otherwise the viewer restores it, more completely. The viewer stores the
 * thread's state here. The stubs use these offsets (preload/copy_stub.c). Source for aarch64:
 * Linux, arch/arm64/kernel/signal.c and include/uapi/asm/sigcontext.h.
 */
#ifndef SHM_COPY_H
#define SHM_COPY_H

#include <stdint.h>

#define HT_COPY_MAGIC UINT64_C(0x33706f6370616568) /* "heapcop3" */

/* What a stub restores of a thread, by architecture. */
#ifdef __x86_64__

struct ht_copy_state {
	uint64_t mask; /* signals blocked by the thread */
	uint64_t rip; /* where it continues, and its registers */
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15;
};

#elif defined(__aarch64__)

/*
 * No instruction jumps to an address in memory and leaves all registers alone. So the stub returns
 * as from a signal's handler: this is the frame that rt_sigreturn expects at the stack pointer.
 * rt_sigreturn makes the kernel forget how to resume an interrupted call by restart_syscall(2): a
 * thread that is about to do so does it in the stub, before.
 */
struct ht_copy_state {
	uint64_t resumes; /* 1: the call at `pc` is restart_syscall(2) */
	uint8_t siginfo[120];
	uint64_t flags, link, stack;
	uint32_t stack_flags, unused0; /* HT_COPY_KEEPS_STACK */
	uint64_t stack_bytes;
	uint64_t mask; /* signals blocked by the thread */
	uint8_t unused1[128];
	uint64_t fault;
	uint64_t regs[31], sp, pc, pstate; /* where it continues, and its registers */
	uint64_t unused2;
	uint32_t fp_magic, fp_bytes; /* the record of these and the next two members */
	uint32_t fpsr, fpcr;
	uint8_t vregs[32][16];
	uint32_t end[2]; /* 0: no more records */
};

#define HT_COPY_FP_MAGIC    0x46508001u
#define HT_COPY_FP_BYTES    528u
/* A mode that does not exist: rt_sigreturn leaves the thread's alternate stack as it is. */
#define HT_COPY_KEEPS_STACK 7u

#else

struct ht_copy_state {
	uint64_t mask;
};

#endif

struct ht_copy {
	uint64_t magic;
	uint64_t stub, stub_end; /* the code of both */
	uint64_t reap; /* start of the code that reaps */
	uint64_t copy; /* pid, as the process sees it, of the copy to reap; 0: none */
	uint64_t busy; /* 1: a thread has yet to return to the state below */
	_Alignas(16) struct ht_copy_state state;
};

#endif
