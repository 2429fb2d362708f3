/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hooks of what a program may do to its process that the library must know, and cannot ask for
 * without a system call: lend its memory to a child (vfork, clone), whose end is not the program's,
 * and forbid itself to read the processor's clock (prctl). They record nothing. Any thread.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/lifecycle.h"
#include "preload/next_allocator.h"
#include "preload/old_version.h"

/* What <linux/seccomp.h> calls SECCOMP_MODE_STRICT: the kernel then forbids the clock as well. */
#define SECCOMP_STRICT 1ul

#define HOOK __attribute__((visibility("default")))

typedef int child_function(void *);
typedef pid_t vfork_function(void);

int hook_prctl(int option, ...);
int hook_clone(child_function *function, void *stack, int flags, void *argument, ...);
vfork_function *hook_vfork_next(void) __attribute__((used));

/* As daemon: only for references to glibc's version (exports.map). */
__asm__(".symver hook_vfork, vfork@" OLD_VERSION_BASE "\n"
	".symver hook_clone, clone@" OLD_VERSION_BASE "\n"
	".symver hook_prctl, prctl@" OLD_VERSION_BASE "\n");

/* vfork returns twice, on one stack: so it is reached by a jump, which leaves no frame of ours that
 * the child could overwrite. */
__asm__(".pushsection .text\n"
	"	.balign 16\n"
	"	.globl hook_vfork\n"
#ifdef __aarch64__
	"	.type hook_vfork, %function\n"
	"hook_vfork:\n"
	"	.cfi_startproc\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	bl hook_vfork_next\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_def_cfa_offset 0\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	mov x16, x0\n"
	"	br x16\n"
#elif defined(__i386__)
	"	.type hook_vfork, @function\n"
	"hook_vfork:\n"
	"	.cfi_startproc\n"
	"	endbr32\n"
	"	sub $12, %esp\n"
	"	.cfi_adjust_cfa_offset 12\n"
	"	call hook_vfork_next\n"
	"	add $12, %esp\n"
	"	.cfi_adjust_cfa_offset -12\n"
	"	jmp *%eax\n"
#else
	"	.type hook_vfork, @function\n"
	"hook_vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call hook_vfork_next\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
#endif
	"	.cfi_endproc\n"
	"	.size hook_vfork, . - hook_vfork\n"
	"	.popsection\n");

/* What is to be jumped to. fork does all that POSIX lets a program expect of vfork. */
vfork_function *hook_vfork_next(void)
{
	lifecycle_memory_lent();
	return next_available() && next.vfork ? next.vfork : fork;
}

HOOK int hook_clone(child_function *function, void *stack, int flags, void *argument, ...)
{
	void *parent_tid, *tls, *child_tid;
	va_list more;

	/* As glibc does: passed on whether the caller has them or not. */
	va_start(more, argument);
	parent_tid = va_arg(more, void *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, void *);
	va_end(more);
	if ((flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM)
		lifecycle_memory_lent();
	if (!next_available() || !next.clone) {
		errno = ENOSYS;
		return -1;
	}
	return next.clone(function, stack, flags, argument, parent_tid, tls, child_tid);
}

static bool forbids_clock(int option, unsigned long value)
{
	return (option == PR_SET_TSC && value == PR_TSC_SIGSEGV) ||
	       (option == PR_SET_SECCOMP && value == SECCOMP_STRICT);
}

HOOK int hook_prctl(int option, ...)
{
	unsigned long value[4];
	va_list more;

	va_start(more, option);
	for (unsigned i = 0; i < 4; i++)
		value[i] = va_arg(more, unsigned long);
	va_end(more);
	if (forbids_clock(option, value[0]))
		clock_forbid();
	if (!next_available() || !next.prctl)
		return (int)syscall(SYS_prctl, option, value[0], value[1], value[2], value[3]);
	return next.prctl(option, value[0], value[1], value[2], value[3]);
}
