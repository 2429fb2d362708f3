/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers of a stopped thread (registers.h). */
#include "src/trace/registers.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#ifdef __x86_64__

bool trace_registers_read(pid_t tid, struct user_regs_struct *r, struct trace_system *s)
{
	bool read = ptrace(PTRACE_GETREGS, tid, NULL, r) == 0;

	if (!read)
		memset(r, 0, sizeof(*r));
	*s = (struct trace_system){ r->fs_base, (long)r->orig_rax };
	return read;
}

#elif defined(__aarch64__)

/* Notes that older headers lack. */
#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif
#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

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

#else

bool trace_registers_read(pid_t tid, struct user_regs_struct *r, struct trace_system *s)
{
	memset(r, 0, sizeof(*r));
	*s = (struct trace_system){ .call = -1 };
	return false;
}

#endif
