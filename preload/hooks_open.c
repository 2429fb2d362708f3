/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hook of dlopen: a library that is opened with RTLD_DEEPBIND finds the functions of libc
 * before our hooks, so they are patched first (inner_deep). It records nothing. Any thread.
 */
#include <dlfcn.h>

#include "preload/inner.h"
#include "preload/lifecycle.h"
#include "preload/next_allocator.h"
#include "preload/old_version.h"
#include "preload/symbols.h"

#ifdef __x86_64__

typedef void *open_function(const char *, int);

open_function *hook_dlopen_next(int mode) __attribute__((used));

/* As daemon: only for references to glibc's versions (exports.map). */
__asm__(".globl hook_dlopen_2_34\n.set hook_dlopen_2_34, hook_dlopen\n"
	".type hook_dlopen_2_34, %function\n"
	".symver hook_dlopen, dlopen@" OLD_VERSION_BASE "\n"
	".symver hook_dlopen_2_34, dlopen@GLIBC_2.34\n");

/* dlopen looks along the search path of its caller, in the caller's namespace. So it is reached by
 * a jump, which leaves the return address. */
__asm__(".pushsection .text\n"
	"	.balign 16\n"
	"	.globl hook_dlopen\n"
	"	.type hook_dlopen, @function\n"
	"hook_dlopen:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %esi, %edi\n"
	"	call hook_dlopen_next\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	"	.size hook_dlopen, . - hook_dlopen\n"
	"	.popsection\n");

static void *open_nothing(const char *file, int mode)
{
	return NULL;
}

/* What is to be jumped to. libdl of before glibc 2.34 may have come after the start. */
open_function *hook_dlopen_next(int mode)
{
	open_function *f;

	if ((mode & RTLD_DEEPBIND) && lifecycle_on()) {
		state_enter();
		if (state_is_on())
			inner_deep();
		state_leave();
	}
	f = next_available() ? next.dlopen : NULL;
	if (!f)
		f = (open_function *)symbols_next("dlopen");
	return f ? f : open_nothing;
}

#endif
