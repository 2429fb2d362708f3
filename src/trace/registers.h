/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The general registers of a stopped thread, by architecture: how they are read and written, and
 * which register has which role. The thread that stopped it. Source: ptrace(2); elf.h's notes.
 */
#ifndef SRC_TRACE_REGISTERS_H
#define SRC_TRACE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* What is no general register on some architectures. */
struct trace_system {
	uint64_t pointer; /* the thread pointer; 0: unknown */
	long call; /* the system call that the thread is in; below 0: none */
};

/* False: nothing was read, and all is 0. */
bool trace_registers_read(pid_t tid, struct user_regs_struct *r, struct trace_system *s);
bool trace_registers_write(pid_t tid, const struct user_regs_struct *r);
/* Changes them so that the thread continues at `pc`, whatever it was doing. */
void trace_registers_divert(struct user_regs_struct *r, uint64_t pc);
/* Whether they are those of 32-bit code, or were not read. */
bool trace_registers_narrow(const struct user_regs_struct *r);
/* Whether the thread has a state that a system call would change, and that cannot be restored. */
bool trace_registers_lost(pid_t tid);

/* The signals that the thread blocks, as the kernel's set: signal N is bit N - 1. */
bool trace_registers_mask_read(pid_t tid, uint64_t *mask);
bool trace_registers_mask_write(pid_t tid, uint64_t mask);

static inline uint64_t trace_registers_stack(const struct user_regs_struct *r)
{
#ifdef __x86_64__
	return r->rsp;
#elif defined(__aarch64__)
	return r->sp;
#else
	return 0;
#endif
}

/* The registers of a thread if only these two are known; the others are 0. */
static inline struct user_regs_struct trace_registers_of(uint64_t stack, uint64_t thread_pointer)
{
#ifdef __x86_64__
	return (struct user_regs_struct){ .rsp = stack, .fs_base = thread_pointer };
#elif defined(__aarch64__)
	return (struct user_regs_struct){ .sp = stack };
#else
	return (struct user_regs_struct){ 0 };
#endif
}

static inline uint64_t trace_registers_pc(const struct user_regs_struct *r)
{
#ifdef __x86_64__
	return r->rip;
#elif defined(__aarch64__)
	return r->pc;
#else
	return 0;
#endif
}

/* What a system call has just returned. */
static inline long trace_registers_result(const struct user_regs_struct *r)
{
#ifdef __x86_64__
	return (long)r->rax;
#elif defined(__aarch64__)
	return (long)r->regs[0];
#else
	return -1;
#endif
}

/* Bytes below the stack pointer that belong to the innermost function: System V ABI, AMD64, 3.2.2;
 * AAPCS64 has none. */
#ifdef __x86_64__
#define TRACE_REGISTERS_RED_ZONE 128u
#else
#define TRACE_REGISTERS_RED_ZONE 0u
#endif

#endif
