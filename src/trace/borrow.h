/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a stopped thread may make a few system calls for heaptop, and find nothing changed
 * afterwards. The thread that stopped the process. */
#ifndef SRC_TRACE_BORROW_H
#define SRC_TRACE_BORROW_H

#include "src/trace/stop.h"

/* Whether it is under a seccomp filter, which may kill it for calls that it never makes itself. */
bool trace_borrow_filtered(pid_t tid);
/* Whether the program handles system calls itself (Wine: syscall user dispatch). */
bool trace_borrow_dispatched(pid_t tid);
/* Whether it is in a system call, or about to make one again that its stop has interrupted. */
bool trace_borrow_in_call(const struct trace_thread *t);
/* Whether it is inside a restartable sequence (rseq(2)), which it must not leave. */
bool trace_borrow_in_sequence(const struct trace_thread *t);
/* Stopped by us alone, in 64-bit code, with no signal to take, and none of the above; a filter
 * only counts if `filters`. */
bool trace_borrow_may(const struct trace_thread *t, bool filters);

#endif
