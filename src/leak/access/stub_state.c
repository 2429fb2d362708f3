/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stub restores of its thread (stub_state.h). */
#include "src/leak/access/stub_state.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "src/trace/restart.h"

#ifdef __x86_64__

bool leak_stub_state(const struct trace_thread *t, uint64_t mask, struct ht_copy_state *out)
{
	struct user_regs_struct r;

	trace_restart_registers(t, &r);
	*out = (struct ht_copy_state){ .mask = mask,
		.rip = r.rip,
		.rax = r.rax,
		.rbx = r.rbx,
		.rcx = r.rcx,
		.rdx = r.rdx,
		.rsi = r.rsi,
		.rdi = r.rdi,
		.rbp = r.rbp,
		.r8 = r.r8,
		.r9 = r.r9,
		.r10 = r.r10,
		.r11 = r.r11,
		.r12 = r.r12,
		.r13 = r.r13,
		.r14 = r.r14,
		.r15 = r.r15 };
	return true;
}

#elif defined(__aarch64__)

bool leak_stub_state(const struct trace_thread *t, uint64_t mask, struct ht_copy_state *out)
{
	struct user_fpsimd_struct fp;
	struct user_regs_struct r;
	struct iovec io = { &fp, sizeof(fp) };

	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(long)NT_PRFPREG, &io) != 0 ||
		io.iov_len < sizeof(fp))
		return false;
	trace_restart_registers(t, &r);
	*out = (struct ht_copy_state){ .resumes = trace_restart_resumes(t, &r),
		.stack_flags = HT_COPY_KEEPS_STACK,
		.mask = mask,
		.sp = r.sp,
		.pc = r.pc,
		.pstate = r.pstate,
		.fp_magic = HT_COPY_FP_MAGIC,
		.fp_bytes = HT_COPY_FP_BYTES,
		.fpsr = fp.fpsr,
		.fpcr = fp.fpcr };
	memcpy(out->regs, r.regs, sizeof(out->regs));
	memcpy(out->vregs, fp.vregs, sizeof(out->vregs));
	return true;
}

#else

bool leak_stub_state(const struct trace_thread *t, uint64_t mask, struct ht_copy_state *out)
{
	return false;
}

#endif
