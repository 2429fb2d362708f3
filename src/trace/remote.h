/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls and function calls made by a stopped thread of another process. A signal frame
 * (signal_frame.h) lies below its stack, and the call returns to __restore_rt: if the viewer is
 * killed, the thread completes the call, and resumes by itself what it was doing. Other threads may
 * run meanwhile. The thread that stopped it. Source: ptrace(2), sigreturn(2).
 */
#ifndef SRC_TRACE_REMOTE_H
#define SRC_TRACE_REMOTE_H

#include "src/trace/image.h"
#include "src/trace/signal_frame.h"
#include "src/trace/stop.h"

#define TRACE_REMOTE_ARGS 6u
#define TRACE_REMOTE_DATA 1024u /* bytes for what arguments point to */
#define TRACE_REMOTE_RED  128u /* below the stack pointer, a function's own */
/* Bytes of stack that the frame takes, at most; a function called needs its own below. */
#define TRACE_REMOTE_FRAME                                                                         \
	(SIGNAL_FRAME_MOST + SIGNAL_FRAME_PLAIN + TRACE_REMOTE_DATA + TRACE_REMOTE_RED)

/* What is needed of libc, found once for each process. */
struct trace_remote_code {
	uint64_t restorer; /* __restore_rt: its two instructions */
	uint64_t call; /* `syscall`, followed by `ret` */
	int64_t errno_at; /* of a thread, from its thread pointer on; 0: unknown */
};

struct trace_remote {
	struct trace_stop *stop;
	struct trace_thread *thread;
	const struct trace_memory *memory;
	struct trace_remote_code code;
	uint64_t mask; /* the signals that the thread blocks itself */
	uint64_t at; /* of the lowest frame, and the stack pointer of each call */
	uint64_t home; /* of the frame that leads back */
	uint64_t data, data_end; /* free */
	uint32_t saved_errno;
	bool alone; /* all other threads run, and those that stop late are let go */
	bool away; /* the thread is in a call, or behind one */
	bool entry; /* it stands where __restore_rt enters the kernel */
	bool blocked; /* all its signals are */
	bool lost; /* it has ended, or did not come back in time: it finds back by itself */
};

/* Looks for it in libc's code. False: not as it has been understood. */
bool trace_remote_code_find(
	struct trace_remote_code *c, const struct trace_image *i, const struct trace_module *libc);

/* Whether a stopped thread is in a call that a viewer who was killed has sent it into: it comes
 * back by itself. */
bool trace_remote_is_underway(const struct trace_remote_code *c, const struct trace_image *i,
	const struct trace_thread *t);

/*
 * Writes the frame below the thread's stack pointer, which must be in writable memory of
 * TRACE_REMOTE_FRAME bytes. `suspend`: seccomp filters do not count meanwhile (only root may do
 * that). 0 or -errno: nothing was changed but memory below the stack.
 */
int trace_remote_begin(struct trace_remote *r, struct trace_stop *s, struct trace_thread *t,
	const struct trace_memory *m, const struct trace_remote_code *c, bool suspend);
/* Lets all other threads go, for good: they run during calls from now on. */
void trace_remote_release_others(struct trace_remote *r);
/* Puts bytes above the frame, for an argument to point to. 0: no room. */
uint64_t trace_remote_put(struct trace_remote *r, const void *bytes, size_t n);
/* A system call. Its result, or -errno; -EIO: the thread is lost. */
long trace_remote_syscall(struct trace_remote *r, long number, const uint64_t *args);
/* A function of the C ABI, for `ns` at most. Its result stays unknown. 0; -EFAULT: it crashed, and
 * was left there; -EIO or -ETIMEDOUT: the thread is lost. */
int trace_remote_call(struct trace_remote *r, uint64_t function, const uint64_t *args, uint64_t ns);
/*
 * From now on, if we are killed or lose the thread, it calls function(argument) on its way back:
 * what undoes a call that is to come. One at a time. 0 or -EFAULT.
 */
int trace_remote_promise(struct trace_remote *r, uint64_t function, uint64_t argument);
/* The promise is void: the thread's way back is the short one again. To be kept by the caller. */
void trace_remote_promise_end(struct trace_remote *r);
/* Restores the thread, which is stopped as it was. False: it is lost. */
bool trace_remote_end(struct trace_remote *r);

#endif
