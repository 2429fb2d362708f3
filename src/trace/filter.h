/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a thread's seccomp filters would do to the recorder's system calls. Filters are suspended
 * for the calls of attaching itself, but not for these later ones. The thread that stopped it, and
 * has CAP_SYS_ADMIN. Sources: seccomp(2), ptrace(2).
 */
#ifndef SRC_TRACE_FILTER_H
#define SRC_TRACE_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/types.h>

/* What a filter returns for a call (SECCOMP_RET_...). SECCOMP_RET_KILL_PROCESS for one that is not
 * understood. Pure. */
uint32_t trace_filter_run(
	const struct sock_filter *code, unsigned count, const struct seccomp_data *data);
/*
 * The name of the first call that would end the thread, raise a signal or wait for a supervisor.
 * NULL: none, each is allowed or fails. "?": the filters cannot be read.
 */
const char *trace_filter_forbids(pid_t tid);

#endif
