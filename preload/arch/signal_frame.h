/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame that the kernel makes for a signal handler, by architecture: where the interrupted
 * registers are, relative to the stack pointer to which the handler returns; and the code to
 * which it returns, which debuggers also recognise by its bytes. Sources: Linux,
 * arch/x86/kernel/signal_64.c, signal_32.c, arch/x86/entry/vdso/vdso32/sigreturn.S;
 * arch/arm64/kernel/signal.c, vdso/sigreturn.S.
 */
#ifndef PRELOAD_ARCH_SIGNAL_FRAME_H
#define PRELOAD_ARCH_SIGNAL_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#ifdef __aarch64__

#define SIGNAL_FRAME_REG(reg) (128 + offsetof(ucontext_t, uc_mcontext.reg)) /* behind siginfo_t */
#define SIGNAL_FRAME_PC	      SIGNAL_FRAME_REG(pc)
#define SIGNAL_FRAME_RBP      SIGNAL_FRAME_REG(regs[29])
#define SIGNAL_FRAME_RSP      SIGNAL_FRAME_REG(sp)
#define SIGNAL_FRAME_LINK     SIGNAL_FRAME_REG(regs[30])
/* mov x8, #139; svc #0. The kernel's has had no call frame information since Linux 5.8. */
#define SIGNAL_FRAME_CODE                                                                          \
	{                                                                                          \
		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4                                           \
	}
#define SIGNAL_FRAME_BY_CODE 1

#elif defined(__i386__)

/* From the interrupted registers on, which are in the same order in both kinds of frames (walk.c).
 */
#define SIGNAL_FRAME_REG(reg) ((size_t)(reg) * sizeof(greg_t))
#define SIGNAL_FRAME_PC	      SIGNAL_FRAME_REG(REG_EIP)
#define SIGNAL_FRAME_RBP      SIGNAL_FRAME_REG(REG_EBP)
#define SIGNAL_FRAME_RSP      SIGNAL_FRAME_REG(REG_ESP)
/* mov $173, %eax; int $0x80: where the address of the ucontext is. */
#define SIGNAL_FRAME_CODE                                                                          \
	{                                                                                          \
		0xb8, 0xad, 0, 0, 0, 0xcd, 0x80                                                    \
	}
#define SIGNAL_FRAME_BY_CODE  0
#define SIGNAL_FRAME_UCONTEXT 8u
/* Handlers without SA_SIGINFO return to: pop %eax; mov $119, %eax; int $0x80. */
#define SIGNAL_FRAME_OLD_CODE 0x58
#define SIGNAL_FRAME_OLD_CALL 119
#define SIGNAL_FRAME_OLD      4u

#else

#define SIGNAL_FRAME_REG(reg)                                                                      \
	(offsetof(ucontext_t, uc_mcontext.gregs) + (size_t)(reg) * sizeof(greg_t))
#define SIGNAL_FRAME_PC	 SIGNAL_FRAME_REG(REG_RIP)
#define SIGNAL_FRAME_RBP SIGNAL_FRAME_REG(REG_RBP)
#define SIGNAL_FRAME_RSP SIGNAL_FRAME_REG(REG_RSP)
/* mov $15, %rax; syscall */
#define SIGNAL_FRAME_CODE                                                                          \
	{                                                                                          \
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05                                        \
	}
#define SIGNAL_FRAME_BY_CODE 0

#endif

#endif
