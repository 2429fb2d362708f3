/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing jumps (jumps.h). Only the bytes that a jump takes change; a thread that stands at a later
 * instruction of those displaced finds it where it was.
 */
#include "src/attach/jumps.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

#include "src/trace/stack.h"

#define JUMP	5u /* bytes */
#define NOWHERE 255u /* in `moved`: no instruction begins here */
#define SYSCALL 2u /* bytes of the instruction */

static bool is_at(const struct attach_process *p, uint64_t at, const uint8_t *bytes)
{
	uint8_t is[JUMP];

	return trace_memory_read(&p->memory, at, is, sizeof(is)) &&
	       memcmp(is, bytes, sizeof(is)) == 0;
}

void attach_jumps_look(
	struct attach_jumps *out, const struct attach_process *p, const struct ht_attached *a)
{
	*out = (struct attach_jumps){ 0 };
	for (uint32_t i = 0; i < a->jumps; i++) {
		const struct ht_attached_jump *j = &a->jump[i];

		if (j->at == 0)
			continue;
		if (is_at(p, j->at, j->jump))
			out->set++;
		else if (is_at(p, j->at, j->before))
			out->clear++;
		else
			out->other++;
	}
}

/* ---- threads in the way ---- */

/* Where the thread's next instruction is: the kernel may go back to a system call's. */
static uint64_t next_instruction(const struct trace_thread *t)
{
	return (long)t->regs.orig_rax >= 0 ? t->regs.rip - SYSCALL : t->regs.rip;
}

/* 0: the jump does not concern the thread; 1: it does, *to is where it is to be; or -EAGAIN. */
static int thread_moves(
	const struct trace_thread *t, const struct ht_attached_jump *j, uint64_t *to)
{
	uint64_t next = next_instruction(t), at = next - j->at;

	if (at - 1 >= JUMP - 1)
		return 0;
	if (j->moved[at] == NOWHERE)
		return -EAGAIN;
	*to = j->pad + j->moved[at] + (t->regs.rip - next);
	return 1;
}

static int thread_place(const struct ht_attached *a, struct trace_thread *t, uint64_t *to)
{
	int rc = 0;

	for (uint32_t i = 0; i < a->jumps && rc == 0; i++)
		if (a->jump[i].at != 0)
			rc = thread_moves(t, &a->jump[i], to);
	return rc;
}

struct displaced {
	const struct ht_attached *list;
	uint64_t low, high; /* of all of them */
};

static bool is_displaced(const void *ctx, const uint64_t *at)
{
	const struct displaced *d = ctx;
	uint64_t word = *at;

	if (word < d->low || word >= d->high)
		return false;
	for (uint32_t i = 0; i < d->list->jumps; i++)
		if (d->list->jump[i].at != 0 && word - d->list->jump[i].at - 1 < JUMP - 1)
			return true;
	return false;
}

static struct displaced displaced_of(const struct ht_attached *a)
{
	struct displaced d = { a, UINT64_MAX, 0 };

	for (uint32_t i = 0; i < a->jumps; i++) {
		uint64_t at = a->jump[i].at;

		if (at != 0 && at < d.low)
			d.low = at;
		if (at != 0 && at + JUMP > d.high)
			d.high = at + JUMP;
	}
	return d;
}

/* All of them, or -EAGAIN before one has been moved. */
static int threads_move(
	const struct attach_process *p, struct trace_stop *s, const struct ht_attached *a)
{
	struct displaced d = displaced_of(a);
	uint64_t to;

	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (t->state != TRACE_THREAD_STOPPED)
			continue;
		if (thread_place(a, t, &to) < 0 ||
			trace_stack_search(&p->image, t, is_displaced, &d))
			return -EAGAIN;
	}
	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (t->state != TRACE_THREAD_STOPPED || thread_place(a, t, &to) != 1)
			continue;
		t->regs.rip = t->now.rip = to;
		if (ptrace(PTRACE_SETREGS, t->tid, NULL, &t->regs) != 0)
			return -errno;
	}
	return 0;
}

/* ---- bytes ---- */

int attach_jumps_write(
	const struct attach_process *p, struct trace_stop *s, const struct ht_attached *a)
{
	struct attach_jumps there;
	int rc;

	attach_jumps_look(&there, p, a);
	if (there.other > 0)
		return -EBUSY;
	rc = threads_move(p, s, a);
	for (uint32_t i = 0; i < a->jumps && rc == 0; i++)
		if (a->jump[i].at != 0 &&
			!trace_memory_write(&p->memory, a->jump[i].at, a->jump[i].jump, JUMP))
			rc = -EFAULT;
	return rc;
}

int attach_jumps_clear(const struct attach_process *p, const struct ht_attached *a)
{
	int rc = 0;

	for (uint32_t i = 0; i < a->jumps; i++)
		if (a->jump[i].at != 0 && is_at(p, a->jump[i].at, a->jump[i].jump) &&
			!trace_memory_write(&p->memory, a->jump[i].at, a->jump[i].before, JUMP))
			rc = -EFAULT;
	return rc;
}
