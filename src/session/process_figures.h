/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel reports of the program's memory, and what heaptop itself costs, for a snapshot.
 * All zeros at first. Main thread.
 */
#ifndef SRC_SESSION_PROCESS_FIGURES_H
#define SRC_SESSION_PROCESS_FIGURES_H

#include "src/far/moment.h"
#include "src/model/snapshot.h"
#include "src/read/read.h"

struct process_figures {
	struct snap_proc proc; /* the last reading */
	uint64_t pss_due_ns;
	uint64_t ticked_ns, ticked_cpu_ns; /* of heaptop itself, at the last tick */
};

/* Reads /proc. `pid` 0: the process is not visible from here. One that did not start at
 * `start_ticks` (proc_start_ticks) has its pid from another and is not read. */
void process_figures_read(struct process_figures *f, pid_t pid, uint64_t start_ticks);
/* Takes what an agent reported. */
void process_figures_far(struct process_figures *f, const struct far_moment *m);
/* The cost of heaptop, and of the segment, into `head`. */
void process_figures_own(
	struct process_figures *f, const struct read_segment *segment, struct snapshot *head);
/* Names threads as an agent reported. */
void process_figures_threads(const struct far_moment *m, struct snap_thread *thread, size_t count);
/* How far the clock of the agent's machine is ahead of ours, modulo 2^64. */
uint64_t process_figures_ahead_ns(const struct far_moment *m);

#endif
