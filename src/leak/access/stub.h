/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Has a thread of a process that stands still run one of the library's stubs (shm/copy.h), led
 * system call by system call, and puts it back to where it was. Only the thread that stopped the
 * process.
 */
#ifndef SRC_LEAK_ACCESS_STUB_H
#define SRC_LEAK_ACCESS_STUB_H

#include "shm/copy.h"
#include "src/leak/access/stop.h"

struct leak_stub {
	struct leak_stop *stop;
	struct leak_thread *thread; /* that runs it */
	struct ht_copy area;
	uint64_t at; /* where that is there: read_copy_at */
	uint64_t mask; /* signals that the thread has blocked */
};

/* Reads what the library says of its stubs. False: it has none. */
bool leak_stub_open(struct leak_stub *s, struct leak_stop *stop, uint64_t at);
/* Chooses the thread. NULL, or why none can be used (static). */
const char *leak_stub_choose(struct leak_stub *s);
/* Points it at `entry`. False: it must not go on, and only the end of our thread can let it. */
bool leak_stub_send(struct leak_stub *s, uint64_t entry);
/* Lets it go to its next stop, the entry or the end of a system call. The status; -1: none came. */
int leak_stub_step(const struct leak_stub *s);
/* One system call from its entry to its end. The status of the last stop. */
int leak_stub_call(const struct leak_stub *s);
/* What the call returned that has ended. */
long leak_stub_result(const struct leak_stub *s);
/*
 * Puts it back, before it has left the stub, and writes the area. `status`: of its last stop.
 * False: as leak_stub_send.
 */
bool leak_stub_return(struct leak_stub *s, int status);

/* Waits until a process that we trace stops: the status; -1: it has ended, or not in time. */
int leak_stub_await(const struct leak_stop *stop, pid_t pid, uint64_t ns);
bool leak_stub_is_call(int status);
bool leak_stub_is_event(int status, int event);

#endif
