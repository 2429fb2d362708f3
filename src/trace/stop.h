/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops a process and lets it continue unaware: all its threads by PTRACE_SEIZE and
 * PTRACE_INTERRUPT, without a signal. The thread that stops a process must release it, and must
 * end then: the kernel detaches whatever an ending thread still traces, such as a thread that
 * had not stopped. The same happens if the viewer is killed.
 */
#ifndef SRC_TRACE_STOP_H
#define SRC_TRACE_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/trace/thread.h"

#define TRACE_MESSAGE_MAX 256

struct trace_stop {
	pid_t pid;
	bool is_child; /* it is our own child: its end is for its launcher to reap */
	struct trace_thread *thread;
	size_t count;
	bool whole; /* nothing of it runs: all threads stopped in time */
	bool detached; /* trace_stop_detach */
	uint64_t deadline_ns; /* for threads that can stop at once */
	uint64_t starved_ns; /* for threads that wait for a processor */
};

/*
 * Stops all threads and reads their registers. A thread that does not stop in time stays as it
 * is: within 0.2 s (it waits for a disk, or for a child of vfork), or within 2 s more if it
 * waits for a processor. 0, or -errno with a message: nothing was stopped. `done`: what cannot be
 * done to it then, for the message ("scanned").
 */
int trace_stop(struct trace_stop *s, pid_t pid, const char *done, char *message);
/* The same, within `ns`, for a caller that can do without. */
int trace_stop_within(
	struct trace_stop *s, pid_t pid, uint64_t ns, const char *done, char *message);
/* Stops one thread. 0, or -ESRCH: it did not stop. */
int trace_stop_thread(struct trace_stop *s, pid_t pid, pid_t tid);
/* The tracer of a process; 0: none. */
pid_t trace_stop_tracer(pid_t pid);
/*
 * Resumes threads for which `is_busy` is true for a moment, and stops them again. Returns how
 * many there were.
 */
size_t trace_stop_retry(
	struct trace_stop *s, bool (*is_busy)(void *ctx, const struct trace_thread *t), void *ctx);
/*
 * For a stopped process that goes on while traced (exit_stop.h). `trace` sets the PTRACE_O_* of
 * `options` on all stopped threads that do not have them, `resume` resumes a thread, `poll`
 * notes whether it has stopped or ended since, `add_child` adds the thread that `parent`, which has
 * stopped for that, has created: the kernel has seized it for us. 0 or -errno.
 */
int trace_stop_trace(struct trace_stop *s, unsigned long options);
void trace_stop_resume(struct trace_stop *s, struct trace_thread *t);
void trace_stop_poll(struct trace_stop *s, struct trace_thread *t);
int trace_stop_add_child(struct trace_stop *s, const struct trace_thread *parent);
/* The state of a thread as in /proc/PID/task/TID/stat; 'X': there is none. */
char trace_stop_state(const struct trace_stop *s, pid_t tid);
/* The thread pointer of a stopped thread; 0: unknown on this architecture. */
uint64_t trace_stop_thread_pointer(const struct trace_thread *t);
/* Whether the process stands as it was stopped. If not, it was killed, or ended while it was being
 * stopped, and what was read of its memory may be missing. */
bool trace_stop_stands(const struct trace_stop *s);
/* Whether a thread that stopped, not at its end, has been killed since. */
bool trace_stop_is_killed(const struct trace_thread *t);
/* The number of threads that did not stop. */
size_t trace_stop_running(const struct trace_stop *s);
/* Resumes all threads but one for good, as far as they have stopped: to be called again while some
 * have not. They are as gone then. */
void trace_stop_keep(struct trace_stop *s, const struct trace_thread *kept);
/* Resumes all threads for good. Their registers stay known. */
void trace_stop_detach(struct trace_stop *s);
/* Frees `s`, and resumes its threads before, if that was not done. */
void trace_stop_release(struct trace_stop *s);

#endif
