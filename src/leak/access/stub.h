/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs one of the library's stubs (shm/copy.h) in a thread of a stopped process, one system call
 * at a time, and then restores the thread. Only the thread that stopped the process.
 */
#ifndef SRC_LEAK_ACCESS_STUB_H
#define SRC_LEAK_ACCESS_STUB_H

#include "shm/copy.h"
#include "src/trace/stop.h"

struct leak_stub {
	struct trace_stop *stop;
	struct trace_thread *thread; /* the thread that runs the stub */
	struct ht_copy area;
	uint64_t at; /* the area's address in the process: read_copy_at */
	uint64_t mask; /* the signals that the thread blocked */
};

/* Reads the library's description of its stubs. False: it has none. */
bool leak_stub_open(struct leak_stub *s, struct trace_stop *stop, uint64_t at);
/* Whether a thread is still on its way back from a stub, after a viewer was killed. */
bool leak_stub_is_busy(const struct leak_stub *s);
/* Chooses the thread. NULL, or why none can be used (static). */
const char *leak_stub_choose(struct leak_stub *s);
/* Points the thread at `entry`. False: it must not go on, and only the end of our thread can resume
 * it. */
bool leak_stub_send(struct leak_stub *s, uint64_t entry);
/* Runs it to its next stop: the entry or the end of a system call. The status; -1: none came. */
int leak_stub_step(const struct leak_stub *s);
/* Runs one system call from its entry to its end. The status of the last stop. */
int leak_stub_call(const struct leak_stub *s);
/* What the last call returned. */
long leak_stub_result(const struct leak_stub *s);
/*
 * Restores the thread, before it has left the stub, and writes the area. `status`: of its last
 * stop. False: as leak_stub_send.
 */
bool leak_stub_return(struct leak_stub *s, int status);

/* Waits until a process that we trace stops: the status; -1: it has ended, or took too long. */
int leak_stub_await(const struct trace_stop *stop, pid_t pid, uint64_t ns);
bool leak_stub_is_call(int status);
bool leak_stub_is_event(int status, int event);

#endif
