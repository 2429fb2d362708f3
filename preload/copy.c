/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stub that a thread runs when a viewer wants a copy of the process (shm/copy.h). It uses no
 * stack, and no memory but copy_area, for the thread may stand on a very small one; on the way back
 * it changes no flag, so that the stack pointer and the flags are the program's all the time, and a
 * signal may come at any instruction.
 *
 * The copy is made by a process in between that shares our memory and ends at once: so the copy has
 * no parent here that would have to wait for it. Neither holds any of our descriptors open. The
 * viewer traces both from their first instruction on; what it does not hold ends.
 */
#include "preload/copy.h"

#include <assert.h>
#include <stddef.h>

#include "shm/copy.h"

#ifdef __x86_64__

extern const char copy_stub[] __attribute__((visibility("hidden")));
extern const char copy_stub_end[] __attribute__((visibility("hidden")));
extern struct ht_copy copy_area __attribute__((visibility("hidden")));

struct ht_copy copy_area = { .magic = HT_COPY_MAGIC };

static_assert(offsetof(struct ht_copy, mask) == 24 && offsetof(struct ht_copy, rip) == 32 &&
		      offsetof(struct ht_copy, rax) == 40 && offsetof(struct ht_copy, r15) == 152 &&
		      offsetof(struct ht_copy, busy) == 160 &&
		      offsetof(struct ht_copy, reaper) == 168,
	"as below");

/* clang-format off */
__asm__(
	".pushsection .text\n"
	".globl copy_stub\n"
	".hidden copy_stub\n"
	".globl copy_stub_end\n"
	".hidden copy_stub_end\n"
	".type copy_stub, @function\n"
	"copy_stub:\n"
	"	jmp 1f\n"
	"3:	jmp 4f\n" /* jrcxz does not reach far */
	"1:	movl $157, %eax\n" /* prctl: for the viewer, which goes no further if so */
	"	movl $37, %edi\n" /* PR_GET_CHILD_SUBREAPER */
	"	leaq copy_area+168(%rip), %rsi\n"
	"	movl $0, %edx\n"
	"	movl $0, %r10d\n"
	"	movl $0, %r8d\n"
	"	syscall\n"
	"	movl $56, %eax\n" /* clone */
	"	movl $0x700, %edi\n" /* CLONE_VM | CLONE_FS | CLONE_FILES, and no signal at its end */
	"	movl $0, %esi\n"
	"	movl $0, %edx\n"
	"	movl $0, %r10d\n"
	"	movl $0, %r8d\n"
	"	syscall\n"
	"	movq %rax, %rcx\n"
	"	jrcxz 3b\n"
	"	movq %rax, %rbx\n"
	"2:	movl $247, %eax\n" /* waitid: the process in between leaves nothing behind. An error */
	"	movl $1, %edi\n" /* P_PID: is no process to wait for */
	"	movq %rbx, %rsi\n"
	"	movl $0, %edx\n"
	"	movl $0x40000004, %r10d\n" /* __WALL | WEXITED */
	"	movl $0, %r8d\n"
	"	syscall\n"
	"	leaq 4(%rax), %rcx\n" /* EINTR */
	"	jrcxz 2b\n"
	"	movl $14, %eax\n" /* rt_sigprocmask */
	"	movl $2, %edi\n" /* SIG_SETMASK */
	"	leaq copy_area+24(%rip), %rsi\n"
	"	movl $0, %edx\n"
	"	movl $8, %r10d\n"
	"	syscall\n"
	"	movq copy_area+40(%rip), %rax\n"
	"	movq copy_area+48(%rip), %rbx\n"
	"	movq copy_area+56(%rip), %rcx\n"
	"	movq copy_area+64(%rip), %rdx\n"
	"	movq copy_area+72(%rip), %rsi\n"
	"	movq copy_area+80(%rip), %rdi\n"
	"	movq copy_area+88(%rip), %rbp\n"
	"	movq copy_area+96(%rip), %r8\n"
	"	movq copy_area+104(%rip), %r9\n"
	"	movq copy_area+112(%rip), %r10\n"
	"	movq copy_area+120(%rip), %r11\n"
	"	movq copy_area+128(%rip), %r12\n"
	"	movq copy_area+136(%rip), %r13\n"
	"	movq copy_area+144(%rip), %r14\n"
	"	movq copy_area+152(%rip), %r15\n"
	"	movq $0, copy_area+160(%rip)\n"
	"	jmp *copy_area+32(%rip)\n"
	/* The process in between. */
	"4:	movl $436, %eax\n" /* close_range: has no descriptors from now on, nor has the copy */
	"	movl $0, %edi\n"
	"	movl $-1, %esi\n"
	"	movl $2, %edx\n" /* CLOSE_RANGE_UNSHARE */
	"	syscall\n"
	"	movl $56, %eax\n"
	"	movl $0x400, %edi\n" /* CLONE_FILES */
	"	xorl %esi, %esi\n"
	"	xorl %edx, %edx\n"
	"	xorl %r10d, %r10d\n"
	"	xorl %r8d, %r8d\n"
	"	syscall\n"
	"	movq %rax, %rdi\n"
	"	negq %rdi\n" /* the error, for whoever asks how it ended; the copy ends with 0 */
	"	movl $0, %ebx\n"
	"	cmpq $4095, %rdi\n"
	"	cmovaq %rbx, %rdi\n"
	"5:	movl $60, %eax\n" /* exit: each is a process of one thread */
	"	syscall\n"
	"	jmp 5b\n"
	"copy_stub_end:\n"
	".size copy_stub, copy_stub_end-copy_stub\n"
	".popsection\n");
/* clang-format on */

uint64_t copy_start(void)
{
	copy_area.stub = (uint64_t)(uintptr_t)copy_stub;
	copy_area.stub_end = (uint64_t)(uintptr_t)copy_stub_end;
	return (uint64_t)(uintptr_t)&copy_area;
}

#else

uint64_t copy_start(void)
{
	return 0;
}

#endif
