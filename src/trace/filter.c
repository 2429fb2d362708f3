/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the seccomp filters of a stopped thread (filter.h). */
#include "src/trace/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif
#define FILTERS_MOST 64 /* of a thread; more are not understood */

/* ---- a filter ---- */

struct machine {
	const struct seccomp_data *data;
	uint32_t a, x, memory[BPF_MEMWORDS];
	bool wrong;
};

static uint32_t loaded(struct machine *m, const struct sock_filter *i)
{
	uint32_t word = 0;

	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		return i->k;
	case BPF_LEN:
		return sizeof(*m->data);
	case BPF_MEM:
		m->wrong |= i->k >= BPF_MEMWORDS;
		return m->wrong ? 0 : m->memory[i->k];
	case BPF_ABS:
		m->wrong |=
			BPF_SIZE(i->code) != BPF_W || i->k % 4 != 0 || i->k > sizeof(*m->data) - 4;
		if (!m->wrong)
			memcpy(&word, (const char *)m->data + i->k, sizeof(word));
		return word;
	default:
		m->wrong = true;
		return 0;
	}
}

static uint32_t calculated(struct machine *m, const struct sock_filter *i)
{
	uint32_t b = BPF_SRC(i->code) == BPF_X ? m->x : i->k, a = m->a;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_NEG:
		return 0u - a;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	case BPF_DIV:
	case BPF_MOD:
		m->wrong |= b == 0;
		return b == 0 ? 0 : BPF_OP(i->code) == BPF_DIV ? a / b : a % b;
	default:
		m->wrong = true;
		return 0;
	}
}

/* How many instructions are skipped. */
static uint32_t jumped(struct machine *m, const struct sock_filter *i)
{
	uint32_t b = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
	bool holds = false;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		return i->k;
	case BPF_JEQ:
		holds = m->a == b;
		break;
	case BPF_JGT:
		holds = m->a > b;
		break;
	case BPF_JGE:
		holds = m->a >= b;
		break;
	case BPF_JSET:
		holds = (m->a & b) != 0;
		break;
	default:
		m->wrong = true;
	}
	return holds ? i->jt : i->jf;
}

static void stored(struct machine *m, const struct sock_filter *i)
{
	m->wrong |= i->k >= BPF_MEMWORDS;
	if (!m->wrong)
		m->memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
}

static void moved(struct machine *m, const struct sock_filter *i)
{
	if (BPF_MISCOP(i->code) == BPF_TAX)
		m->x = m->a;
	else
		m->a = m->x;
}

uint32_t trace_filter_run(
	const struct sock_filter *code, unsigned count, const struct seccomp_data *data)
{
	struct machine m = { .data = data };

	for (uint64_t at = 0; at < count && !m.wrong; at++) {
		const struct sock_filter *i = &code[at];

		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			m.a = loaded(&m, i);
			break;
		case BPF_LDX:
			m.x = loaded(&m, i);
			break;
		case BPF_ST:
		case BPF_STX:
			stored(&m, i);
			break;
		case BPF_ALU:
			m.a = calculated(&m, i);
			break;
		case BPF_JMP:
			at += jumped(&m, i);
			break;
		case BPF_RET:
			return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		default:
			moved(&m, i);
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* ---- a thread's ---- */

/* Calls that the recorder makes as a program grows, and that which brings a borrowed thread back.
 */
static const struct needed {
	const char *name;
	struct seccomp_data data;
} needed[] = {
#define CALL(call, ...)                                                                            \
	{                                                                                          \
#call,                                                                             \
		{                                                                                  \
			SYS_##call, AUDIT_ARCH_X86_64, 0,                                          \
			{                                                                          \
				__VA_ARGS__                                                        \
			}                                                                          \
		}                                                                                  \
	}
	CALL(mmap, 0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		(uint64_t)-1, 0),
	CALL(munmap, 0x7f0000000000, 65536),
	CALL(mremap, 0x7f0000000000, 65536, 131072, MREMAP_MAYMOVE),
	CALL(mprotect, 0x7f0000000000, 65536, PROT_READ | PROT_WRITE),
	CALL(madvise, 0x7f0000000000, 65536, MADV_WILLNEED),
	CALL(getpid, 0),
	CALL(gettid, 0),
	CALL(tgkill, 1, 1, 0),
	CALL(sysinfo, 0x7f0000000000),
	CALL(rt_sigprocmask, 0),
	CALL(rt_sigreturn, 0),
#undef CALL
};

static bool is_fatal(uint32_t result)
{
	switch (result & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ERRNO:
		return false;
	default:
		return true;
	}
}

static const char *judged(const struct sock_filter *code, unsigned count)
{
	for (size_t n = 0; n < sizeof(needed) / sizeof(*needed); n++)
		if (is_fatal(trace_filter_run(code, count, &needed[n].data)))
			return needed[n].name;
	return NULL;
}

static long filter_get(pid_t tid, unsigned long index, struct sock_filter *code)
{
	return ptrace((enum __ptrace_request)PTRACE_SECCOMP_GET_FILTER, tid, (void *)index, code);
}

const char *trace_filter_forbids(pid_t tid)
{
	struct sock_filter *code = malloc(BPF_MAXINSNS * sizeof(*code));
	const char *found = code ? NULL : "?";
	long count = 1;

	for (unsigned long i = 0; code && !found && i <= FILTERS_MOST; i++) {
		count = filter_get(tid, i, NULL);
		if (count < 0 && errno == ENOENT && i > 0)
			break;
		if (count <= 0 || count > BPF_MAXINSNS || i == FILTERS_MOST ||
			filter_get(tid, i, code) != count)
			found = "?";
		else
			found = judged(code, (unsigned)count);
	}
	free(code);
	return found;
}
