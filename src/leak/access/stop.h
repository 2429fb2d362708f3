/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a process stand still, and lets it go on as if nothing had been: all its threads by
 * PTRACE_SEIZE and PTRACE_INTERRUPT, no signal. The thread that stops a process must release it,
 * and must end then: the kernel lets go of whatever a thread that ends still traces, such as one
 * that had not stopped. So it also does if we are killed.
 */
#ifndef SRC_LEAK_ACCESS_STOP_H
#define SRC_LEAK_ACCESS_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define LEAK_MESSAGE_MAX 256

enum leak_thread_state {
	LEAK_THREAD_RUNS, /* seized, and has not stopped */
	LEAK_THREAD_STOPPED,
	LEAK_THREAD_UNSEIZED, /* it cannot be */
	LEAK_THREAD_GONE,
};

struct leak_thread {
	pid_t tid;
	enum leak_thread_state state;
	int signal; /* that it was about to get when it stopped; 0: none */
	bool listed; /* at the last look */
	bool held; /* stopped by us and by nothing else */
	int event; /* PTRACE_EVENT_* of the last stop; 0: a signal */
	bool reports; /* what to report: leak_stop_trace */
	bool leaving; /* it was let go at its end: it ends, and stops no more (exit_stop.h) */
	struct user_regs_struct regs; /* when it was last stopped */
	struct user_regs_struct now; /* with which it goes on */
	void *vectors; /* as the kernel lays them out: XSAVE; NULL: unknown */
	size_t vector_bytes;
};

struct leak_stop {
	pid_t pid;
	bool is_child; /* its end is its parent's to wait for, which is us */
	struct leak_thread *thread;
	size_t count;
	bool whole; /* nothing of it runs: all threads that there are stopped in time */
	bool detached; /* leak_stop_go */
	uint64_t deadline_ns; /* for threads that could stop at once */
	uint64_t starved_ns; /* for those that wait for a processor to do so */
};

/*
 * Stops all threads, and reads their registers. A thread that does not stop in time is left so:
 * within 0.2 s (it waits for a disk, or for a child of vfork), or within 2 s more if it waits for a
 * processor. 0 or -errno with a message: why nothing was stopped.
 */
int leak_stop(struct leak_stop *s, pid_t pid, char *message);
/* The same where nothing is lost if one does not stop: in so short a time. */
int leak_stop_within(struct leak_stop *s, pid_t pid, uint64_t ns, char *message);
/* Stops only this one of its threads. 0, or -ESRCH: it has not. */
int leak_stop_thread(struct leak_stop *s, pid_t pid, pid_t tid);
/* Who traces a process; 0: nobody. */
pid_t leak_stop_tracer(pid_t pid);
/*
 * Lets threads go on for a moment and stops them again: those of which `is_busy` is true. Returns
 * how many there were.
 */
size_t leak_stop_retry(
	struct leak_stop *s, bool (*is_busy)(void *ctx, const struct leak_thread *t), void *ctx);
/*
 * For who lets a stopped process go on under its eyes (exit_stop.h): `trace` has all threads that
 * stand, and have not been told, report what the PTRACE_O_* in `options` name, `resume` lets one go
 * on, `look` notes whether one has stopped or ended since, `add` takes one that the kernel has
 * seized for us. 0 or -errno.
 */
int leak_stop_trace(struct leak_stop *s, unsigned long options);
void leak_stop_resume(struct leak_stop *s, struct leak_thread *t);
void leak_stop_poll(struct leak_stop *s, struct leak_thread *t);
int leak_stop_add(struct leak_stop *s, pid_t tid);
/* The state of a thread as in /proc/PID/task/TID/stat; 'X': there is none. */
char leak_stop_state(const struct leak_stop *s, pid_t tid);
/* Of one that stopped; 0: not known on this machine. */
uint64_t leak_stop_thread_pointer(const struct leak_thread *t);
/* How many threads did not stop. */
size_t leak_stop_running(const struct leak_stop *s);
/* Lets all that stopped go on, for good. How they stood is still known. */
void leak_stop_detach(struct leak_stop *s);
/* Frees that; lets go before, if that has not been done. */
void leak_stop_release(struct leak_stop *s);
/*
 * The registers with which a thread may be sent on later, from elsewhere, as the kernel would send
 * it on now: a system call that the stop cut off is made again.
 */
void leak_stop_resume_registers(const struct leak_thread *t, struct user_regs_struct *r);

#endif
