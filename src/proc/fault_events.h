/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The addresses at which a process takes page faults, as the kernel reports them
 * (perf_event_open(2)): those of its own code, from now on, of the threads that it has and of those
 * that it makes. Each costs the process about a microsecond. Main thread.
 */
#ifndef SRC_PROC_FAULT_EVENTS_H
#define SRC_PROC_FAULT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fault_events;

/* NULL and errno: EACCES or EPERM where the kernel does not allow it (perf_event_paranoid above 2,
 * a sandbox), EMFILE for more threads than there are descriptors, ... */
struct fault_events *fault_events_new(pid_t pid);
/* Calls `visit` for each new fault; returns how many were lost, for lack of room, in between. */
uint64_t fault_events_read(
	struct fault_events *f, void (*visit)(void *ctx, uint64_t addr), void *ctx);
void fault_events_free(struct fault_events *f);

#endif
