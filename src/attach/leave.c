/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Detaching (leave.h). Once the jumps are removed, threads that were in the library leave it by
 * themselves, within moments or when a call that they record ends. A thread that a signal handler
 * took out of a hook by longjmp seems to stay inside for ever, but nothing on its stack leads
 * back.
 */
#include "src/attach/leave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/attach/jumps.h"
#include "src/attach/load.h"
#include "src/attach/park.h"
#include "src/attach/prove.h"
#include "src/trace/stack.h"

#define RETRIES	    20u /* in one stop, threads that are inside go on for a moment */
#define PART_MOST   4096u /* bytes of a thread's part of the library's data */
#define LEAVE_STACK (32u << 10) /* bytes: heaptop_detach makes system calls and little else */

struct leaving {
	struct ht_attached list;
	size_t inside;
};

/* ---- who is inside ---- */

static bool is_marked(
	const struct attach_process *p, const struct trace_thread *t, const struct ht_attached *a)
{
	uint64_t self = trace_stop_thread_pointer(t), word = 0;
	uint8_t byte = 0;

	if (self == 0) /* it has no thread-local data yet, or none any more */
		return false;
	(void)trace_memory_read(&p->memory, self + (uint64_t)a->busy_at, &word, sizeof(word));
	(void)trace_memory_read(&p->memory, self + (uint64_t)a->inside_at, &byte, sizeof(byte));
	return word != 0 || byte != 0;
}

/* Whether it is on its way from a jump to the library. In a pad, what leads there comes before the
 * displaced instructions. */
static bool is_entering(const struct trace_thread *t, const struct ht_attached *a)
{
	for (uint32_t i = 0; i < a->jumps; i++) {
		const struct ht_attached_jump *j = &a->jump[i];
		int32_t far;
		uint64_t to;

		memcpy(&far, j->jump + 1, sizeof(far));
		to = j->at + sizeof(j->jump) + (uint64_t)(int64_t)far;
		if (j->at != 0 && t->regs.rip >= to && t->regs.rip < j->pad)
			return true;
	}
	return false;
}

static bool is_inside(
	const struct attach_process *p, const struct trace_thread *t, const struct ht_attached *a)
{
	const struct trace_module *m = p->library;

	if ((t->regs.rip >= m->start && t->regs.rip < m->end) || is_entering(t, a))
		return true;
	return is_marked(p, t, a) && trace_stack_has(&p->image, t, m->start, m->end);
}

struct inside {
	const struct attach_process *process;
	const struct ht_attached *list;
};

static bool is_inside_now(void *ctx, const struct trace_thread *t)
{
	const struct inside *i = ctx;

	return is_inside(i->process, t, i->list);
}

static size_t inside_count(
	const struct attach_process *p, const struct trace_stop *s, const struct ht_attached *a)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->thread[i].state == TRACE_THREAD_STOPPED && is_inside(p, &s->thread[i], a);
	return n;
}

/* ---- the last call ---- */

static void parts_clear(
	const struct attach_process *p, const struct trace_stop *s, const struct ht_attached *a)
{
	static const uint8_t zeros[PART_MOST];

	for (size_t i = 0; i < s->count; i++) {
		uint64_t self = trace_stop_thread_pointer(&s->thread[i]);

		if (s->thread[i].state == TRACE_THREAD_STOPPED && self != 0 &&
			a->state_bytes <= PART_MOST)
			(void)trace_memory_write(
				&p->memory, self + (uint64_t)a->state_at, zeros, a->state_bytes);
	}
}

/* A thread in a system call is preferred: it is where its program can wait. */
static struct trace_thread *thread_choose(const struct attach_job *j, struct trace_stop *s)
{
	struct trace_thread *other = NULL;

	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if ((other && (long)t->regs.orig_rax < 0) ||
			!attach_prove_may_call(&j->process, t, LEAVE_STACK))
			continue;
		if ((long)t->regs.orig_rax >= 0)
			return t;
		if (!other)
			other = t;
	}
	return other;
}

/* What all threads must stand still for, and then the rest. To find a descriptor takes a server
 * with many connections a while. */
static int release_calls(
	struct attach_job *j, struct trace_stop *s, struct trace_remote *r, struct ht_attached *a)
{
	uint64_t function = attach_process_function(&j->process, HT_ATTACHED_DETACH);
	uint64_t args[TRACE_REMOTE_ARGS] = { j->process.at };
	int rc = 0;

	parts_clear(&j->process, s, a);
	if (a->state == HT_ATTACHED_PREPARED)
		rc = trace_remote_call(r, function, args, ATTACH_CALL_NS);
	if (rc == 0 && !attach_process_read(&j->process, a))
		rc = -EPROTO;
	if (rc == 0 && a->state == HT_ATTACHED_PREPARED)
		rc = a->result < 0 ? a->result : -EIO;
	if (rc != 0)
		return rc;
	trace_remote_release_others(r);
	attach_phase_went_on(j);
	if (a->state != HT_ATTACHED_NONE)
		rc = trace_remote_call(r, function, args, ATTACH_CALL_NS);
	(void)attach_load_close(j, r);
	return rc;
}

static int release(struct attach_job *j, struct trace_stop *s, struct ht_attached *a)
{
	struct trace_thread *t = thread_choose(j, s);
	struct trace_remote r;
	int rc;

	if (!t)
		return -EAGAIN;
	rc = trace_remote_begin(
		&r, s, t, &j->process.memory, &j->process.code, j->process.filtered);
	if (rc == 0)
		rc = release_calls(j, s, &r, a);
	return trace_remote_end(&r) || rc != 0 ? rc : -EIO;
}

/* There is no library, but perhaps what it was to be loaded from. */
static int descriptors_close(struct attach_job *j, struct trace_stop *s)
{
	struct trace_thread *t = attach_load_is_open(j->process.pid) ? thread_choose(j, s) : NULL;
	struct trace_remote r;
	int rc = t ? trace_remote_begin(
			     &r, s, t, &j->process.memory, &j->process.code, j->process.filtered)
		   : 0;

	if (t && rc == 0) {
		rc = attach_load_close(j, &r);
		(void)trace_remote_end(&r);
	}
	return rc;
}

static int leave_stopped(struct attach_job *j, struct trace_stop *s, struct leaving *l)
{
	struct inside inside = { &j->process, &l->list };
	int rc = attach_park_clear_left(&j->process);

	if (rc != 0 || !j->process.library)
		return rc != 0 ? rc : descriptors_close(j, s);
	rc = attach_process_read(&j->process, &l->list) ? 0 : -EPROTO;
	if (rc == 0)
		rc = attach_jumps_clear(&j->process, &l->list);
	if (rc != 0)
		return rc;
	for (unsigned n = 0; n < RETRIES && trace_stop_retry(s, is_inside_now, &inside) > 0; n++)
		;
	l->inside = inside_count(&j->process, s, &l->list);
	return l->inside > 0 || !s->whole ? -EAGAIN : release(j, s, &l->list);
}

static int leave_phase(struct attach_job *j, void *ctx)
{
	struct trace_stop s;
	int rc = attach_phase_look(j);

	if (rc == 0)
		rc = attach_phase_stop(j, &s);
	if (rc != 0)
		return rc;
	rc = leave_stopped(j, &s, ctx);
	trace_stop_detach(&s);
	attach_phase_went_on(j);
	trace_stop_release(&s);
	if (rc != 0 && rc != -EAGAIN)
		attach_phase_refuse(j, rc, "its recording cannot be ended: %s", strerror(-rc));
	return rc;
}

int attach_leave(struct attach_job *j)
{
	struct leaving *l = calloc(1, sizeof(*l));
	int rc = l ? 0 : -ENOMEM;

	if (rc == 0 && attach_process_read(&j->process, &l->list) && l->list.unlisted > 0)
		rc = attach_phase_refuse(j, -ENOTSUP,
			"more of its functions are patched than can be listed; it stays recorded "
			"until "
			"it ends");
	if (rc == 0)
		rc = attach_phase_repeat(j, leave_phase, l);
	if (rc == -ETIMEDOUT)
		attach_phase_refuse(j, rc,
			"recording is off, but %zu of its threads did not leave libheaptop.so in "
			"time; "
			"try again",
			l->inside);
	free(l);
	return rc;
}
