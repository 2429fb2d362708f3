/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stubs that a thread runs when a viewer wants a copy of the process, and when that has ended
 * (shm/copy.h). They use no stack, and no memory but copy_stub_area, since the thread may stand on
 * a very small one. On x86-64 they change no flag on the way back, so that the stack pointer and
 * the flags are the program's all the time, and a signal may come at any instruction. On aarch64
 * rt_sigreturn restores everything at once, the signal mask, too; signals are blocked before the
 * stack pointer is set for it. Before that the thread may sleep in the stub, on its own stack and
 * with its own signal mask.
 *
 * The copy is a child that raises no signal: wait(2) and its kind do not see such a child without
 * __WCLONE or __WALL. It is not left to the process that reaps orphans, which may not know how. It
 * holds none of our descriptors open. The viewer traces it from its first instruction on; a copy
 * without a tracer ends.
 */
#include "preload/copy_stub.h"

#include <assert.h>
#include <stddef.h>
#include <ucontext.h>

#include "shm/copy.h"

#if defined(__x86_64__) || defined(__aarch64__)

extern const char copy_stub[] __attribute__((visibility("hidden")));
extern const char copy_stub_reap[] __attribute__((visibility("hidden")));
extern const char copy_stub_end[] __attribute__((visibility("hidden")));
extern struct ht_copy copy_stub_area __attribute__((visibility("hidden")));

struct ht_copy copy_stub_area = { .magic = HT_COPY_MAGIC };

static_assert(offsetof(struct ht_copy, copy) == 32 && offsetof(struct ht_copy, busy) == 40 &&
		      offsetof(struct ht_copy, state) == 48,
	"as below");
#ifdef __x86_64__
static_assert(offsetof(struct ht_copy_state, rip) == 8 &&
		      offsetof(struct ht_copy_state, rax) == 16 &&
		      offsetof(struct ht_copy_state, r15) == 128,
	"as below, from 48 on");
#else
static_assert(offsetof(struct ht_copy_state, resumes) == 0 &&
		      offsetof(struct ht_copy_state, mask) == 168 &&
		      offsetof(struct ht_copy_state, regs) == 312 &&
		      offsetof(struct ht_copy_state, pc) == 568,
	"as below, from 48 on");
static_assert(
	offsetof(struct ht_copy_state, stack) == 128 + offsetof(ucontext_t, uc_stack) &&
		offsetof(struct ht_copy_state, mask) == 128 + offsetof(ucontext_t, uc_sigmask) &&
		offsetof(struct ht_copy_state, regs) ==
			128 + offsetof(ucontext_t, uc_mcontext.regs) &&
		offsetof(struct ht_copy_state, pstate) ==
			128 + offsetof(ucontext_t, uc_mcontext.pstate) &&
		offsetof(struct ht_copy_state, fp_magic) ==
			128 + offsetof(ucontext_t, uc_mcontext.__reserved),
	"the kernel's frame");
#endif

/* clang-format off */
#define STUBS_BEGIN \
	".pushsection .text\n" \
	".globl copy_stub\n" \
	".hidden copy_stub\n" \
	".globl copy_stub_reap\n" \
	".hidden copy_stub_reap\n" \
	".globl copy_stub_end\n" \
	".hidden copy_stub_end\n" \
	".type copy_stub, @function\n" \
	".balign 8\n" \
	"copy_stub:\n"
#define STUBS_END \
	"copy_stub_end:\n" \
	".size copy_stub, copy_stub_end-copy_stub\n" \
	".popsection\n"

#ifdef __x86_64__
__asm__(STUBS_BEGIN
	"	movl $56, %eax\n" /* clone */
	"	movl $0x400, %edi\n" /* CLONE_FILES, and no signal at its end */
	"	movl $0, %esi\n"
	"	movl $0, %edx\n"
	"	movl $0, %r10d\n"
	"	movl $0, %r8d\n"
	"	syscall\n"
	"	movq %rax, %rcx\n"
	"	jrcxz 3f\n"
	"	movq %rax, %rbx\n"
	/* A thread gets here only if there is no copy, or no viewer, and then the copy ends. */
	"1:	movl $247, %eax\n" /* waitid. An error of clone is no process to wait for */
	"	movl $1, %edi\n" /* P_PID */
	"	movq %rbx, %rsi\n"
	"	movl $0, %edx\n"
	"	movl $0x80000004, %r10d\n" /* __WCLONE | WEXITED */
	"	movl $0, %r8d\n"
	"	syscall\n"
	"	leaq 4(%rax), %rcx\n" /* EINTR */
	"	jrcxz 1b\n"
	"	jmp 2f\n"
	"3:	jmp 4f\n" /* jrcxz does not reach far */
	"copy_stub_reap:\n"
	"	movl $61, %eax\n" /* wait4: the viewer reads its result */
	"	movq copy_stub_area+32(%rip), %rdi\n"
	"	movl $0, %esi\n"
	"	movl $0x80000001, %edx\n" /* __WCLONE | WNOHANG: never one of the program's own */
	"	movl $0, %r10d\n"
	"	syscall\n"
	"2:\n"
	"	movl $14, %eax\n" /* rt_sigprocmask */
	"	movl $2, %edi\n" /* SIG_SETMASK */
	"	leaq copy_stub_area+48(%rip), %rsi\n"
	"	movl $0, %edx\n"
	"	movl $8, %r10d\n"
	"	syscall\n"
	"	movq copy_stub_area+64(%rip), %rax\n"
	"	movq copy_stub_area+72(%rip), %rbx\n"
	"	movq copy_stub_area+80(%rip), %rcx\n"
	"	movq copy_stub_area+88(%rip), %rdx\n"
	"	movq copy_stub_area+96(%rip), %rsi\n"
	"	movq copy_stub_area+104(%rip), %rdi\n"
	"	movq copy_stub_area+112(%rip), %rbp\n"
	"	movq copy_stub_area+120(%rip), %r8\n"
	"	movq copy_stub_area+128(%rip), %r9\n"
	"	movq copy_stub_area+136(%rip), %r10\n"
	"	movq copy_stub_area+144(%rip), %r11\n"
	"	movq copy_stub_area+152(%rip), %r12\n"
	"	movq copy_stub_area+160(%rip), %r13\n"
	"	movq copy_stub_area+168(%rip), %r14\n"
	"	movq copy_stub_area+176(%rip), %r15\n"
	"	movq $0, copy_stub_area+40(%rip)\n"
	"	jmp *copy_stub_area+56(%rip)\n"
	/* The copy. */
	"4:	movl $157, %eax\n" /* prctl */
	"	movl $15, %edi\n" /* PR_SET_NAME */
	"	leaq 6f(%rip), %rsi\n"
	"	syscall\n"
	"	movl $436, %eax\n" /* close_range: has no descriptors from now on */
	"	movl $0, %edi\n"
	"	movl $-1, %esi\n"
	"	movl $2, %edx\n" /* CLOSE_RANGE_UNSHARE */
	"	syscall\n"
	"5:	movl $60, %eax\n" /* exit: it is a process of one thread */
	"	movl $0, %edi\n"
	"	syscall\n"
	"	jmp 5b\n"
	"6:	.asciz \"heaptop-copy\"\n"
	STUBS_END);
#else
__asm__(STUBS_BEGIN
	"	mov x8, #220\n" /* clone */
	"	mov x0, #0x400\n" /* CLONE_FILES, and no signal at its end */
	"	mov x1, #0\n"
	"	mov x2, #0\n"
	"	mov x3, #0\n"
	"	mov x4, #0\n"
	"	svc #0\n"
	"	cbz x0, 4f\n"
	"	mov x9, x0\n"
	/* A thread gets here only if there is no copy, or no viewer, and then the copy ends. */
	"1:	mov x8, #95\n" /* waitid. An error of clone is no process to wait for */
	"	mov x0, #1\n" /* P_PID */
	"	mov x1, x9\n"
	"	mov x2, #0\n"
	"	mov x3, #4\n" /* __WCLONE | WEXITED */
	"	movk x3, #0x8000, lsl #16\n"
	"	mov x4, #0\n"
	"	svc #0\n"
	"	add x0, x0, #4\n" /* EINTR */
	"	cbz x0, 1b\n"
	"	b 2f\n"
	"copy_stub_reap:\n"
	"	mov x8, #260\n" /* wait4: the viewer reads its result */
	"	adrp x0, copy_stub_area\n"
	"	add x0, x0, :lo12:copy_stub_area\n"
	"	ldr x0, [x0, #32]\n"
	"	mov x1, #0\n"
	"	mov x2, #1\n" /* __WCLONE | WNOHANG: never one of the program's own */
	"	movk x2, #0x8000, lsl #16\n"
	"	mov x3, #0\n"
	"	svc #0\n"
	"2:	adrp x9, copy_stub_area\n"
	"	add x9, x9, :lo12:copy_stub_area\n"
	"	ldr x10, [x9, #48]\n"
	"	cbz x10, 3f\n"
	"	str x10, [x9, #40]\n" /* a viewer killed late has already cleared it */
	"	mov x8, #135\n" /* rt_sigprocmask: the thread's own */
	"	mov x0, #2\n" /* SIG_SETMASK */
	"	add x1, x9, #48+168\n"
	"	mov x2, #0\n"
	"	mov x3, #8\n"
	"	svc #0\n"
	"	mov x8, #128\n" /* restart_syscall */
	"	svc #0\n"
	"	str x0, [x9, #48+312]\n"
	"	ldr x10, [x9, #48+568]\n"
	"	add x10, x10, #4\n"
	"	str x10, [x9, #48+568]\n"
	"3:	mov x8, #135\n" /* rt_sigprocmask: all */
	"	mov x0, #2\n" /* SIG_SETMASK */
	"	adr x1, 6f\n"
	"	mov x2, #0\n"
	"	mov x3, #8\n"
	"	svc #0\n"
	"	str xzr, [x9, #40]\n"
	"	add sp, x9, #48\n"
	"	mov x8, #139\n" /* rt_sigreturn */
	"	svc #0\n"
	/* The copy. */
	"4:	mov x8, #167\n" /* prctl */
	"	mov x0, #15\n" /* PR_SET_NAME */
	"	adr x1, 7f\n"
	"	svc #0\n"
	"	mov x8, #436\n" /* close_range: has no descriptors from now on */
	"	mov x0, #0\n"
	"	mov w1, #-1\n"
	"	mov x2, #2\n" /* CLOSE_RANGE_UNSHARE */
	"	svc #0\n"
	"5:	mov x8, #93\n" /* exit: it is a process of one thread */
	"	mov x0, #0\n"
	"	svc #0\n"
	"	b 5b\n"
	"	.balign 8\n"
	"6:	.quad -1\n"
	"7:	.asciz \"heaptop-copy\"\n"
	"	.balign 8\n"
	STUBS_END);
#endif
/* clang-format on */

uint64_t copy_stub_publish(void)
{
	copy_stub_area.stub = (uint64_t)(uintptr_t)copy_stub;
	copy_stub_area.reap = (uint64_t)(uintptr_t)copy_stub_reap;
	copy_stub_area.stub_end = (uint64_t)(uintptr_t)copy_stub_end;
	return (uint64_t)(uintptr_t)&copy_stub_area;
}

#else

uint64_t copy_stub_publish(void)
{
	return 0;
}

#endif
