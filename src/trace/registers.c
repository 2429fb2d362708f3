/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers of a stopped thread (registers.h). */
#include "src/trace/registers.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

bool trace_registers_mask_read(pid_t tid, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(*mask), mask) == 0;
}

bool trace_registers_mask_write(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask) == 0;
}

#ifdef __x86_64__

#define USER_CODE 0x33 /* cs of a 64-bit program */

bool trace_registers_read(pid_t tid, struct user_regs_struct *r, struct trace_system *s)
{
	bool read = ptrace(PTRACE_GETREGS, tid, NULL, r) == 0;

	if (!read)
		memset(r, 0, sizeof(*r));
	*s = (struct trace_system){ r->fs_base, (long)r->orig_rax };
	return read;
}

bool trace_registers_write(pid_t tid, const struct user_regs_struct *r)
{
	return ptrace(PTRACE_SETREGS, tid, NULL, r) == 0;
}

void trace_registers_divert(struct user_regs_struct *r, uint64_t pc)
{
	r->rip = pc;
	r->orig_rax = (unsigned long)-1;
}

bool trace_registers_narrow(const struct user_regs_struct *r)
{
	return r->cs != USER_CODE;
}

bool trace_registers_lost(pid_t tid)
{
	return false;
}

#elif defined(__aarch64__)

/* Notes that older headers lack. */
#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif
#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif
#ifndef NT_ARM_SVE
#define NT_ARM_SVE 0x405
#endif
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#endif
#ifndef NT_ARM_GCS
#define NT_ARM_GCS 0x410
#endif

#define PSTATE_NARROW UINT64_C(0x10) /* 32-bit code */
#define PSTATE_BTYPE  UINT64_C(0xc00) /* of an indirect branch just made */
#define VECTORS_LONG  1u /* in `flags`: SVE's registers are in use beyond 128 bits */

/* The beginning of the notes on SVE; the kernel's struct user_sve_header. */
struct vectors {
	uint32_t bytes, bytes_max;
	uint16_t length, length_max, flags, unused;
};

static bool note_read(pid_t tid, long note, void *out, size_t bytes)
{
	struct iovec io = { .iov_base = out, .iov_len = bytes };

	return ptrace(PTRACE_GETREGSET, tid, (void *)note, &io) == 0 && io.iov_len >= bytes;
}

bool trace_registers_read(pid_t tid, struct user_regs_struct *r, struct trace_system *s)
{
	int call = -1;

	*s = (struct trace_system){ .call = -1 };
	if (!note_read(tid, NT_PRSTATUS, r, sizeof(*r))) {
		memset(r, 0, sizeof(*r));
		return false;
	}
	(void)note_read(tid, NT_ARM_TLS, &s->pointer, sizeof(s->pointer));
	if (note_read(tid, NT_ARM_SYSTEM_CALL, &call, sizeof(call)))
		s->call = call;
	return true;
}

bool trace_registers_write(pid_t tid, const struct user_regs_struct *r)
{
	struct iovec io = { .iov_base = (void *)(uintptr_t)r, .iov_len = sizeof(*r) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(long)NT_PRSTATUS, &io) == 0;
}

/* A page with branch protection does not accept a thread that stopped amid a branch elsewhere. */
void trace_registers_divert(struct user_regs_struct *r, uint64_t pc)
{
	r->pc = pc;
	r->pstate &= ~PSTATE_BTYPE;
}

bool trace_registers_narrow(const struct user_regs_struct *r)
{
	return (r->pstate & PSTATE_NARROW) != 0 || r->pc == 0;
}

/* A system call keeps 128 bits of each vector register, and ends the streaming mode; rt_sigreturn
 * wants a token on a guarded control stack. */
bool trace_registers_lost(pid_t tid)
{
	struct vectors plain = { 0 }, streaming = { 0 };
	uint64_t guarded = 0;

	(void)note_read(tid, NT_ARM_SVE, &plain, sizeof(plain));
	(void)note_read(tid, NT_ARM_SSVE, &streaming, sizeof(streaming));
	(void)note_read(tid, NT_ARM_GCS, &guarded, sizeof(guarded));
	return (plain.flags & VECTORS_LONG) != 0 || (streaming.flags & VECTORS_LONG) != 0 ||
	       guarded != 0;
}

#else

bool trace_registers_read(pid_t tid, struct user_regs_struct *r, struct trace_system *s)
{
	memset(r, 0, sizeof(*r));
	*s = (struct trace_system){ .call = -1 };
	return false;
}

bool trace_registers_write(pid_t tid, const struct user_regs_struct *r)
{
	return false;
}

void trace_registers_divert(struct user_regs_struct *r, uint64_t pc)
{
}

bool trace_registers_narrow(const struct user_regs_struct *r)
{
	return true;
}

bool trace_registers_lost(pid_t tid)
{
	return true;
}

#endif
