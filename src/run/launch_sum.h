/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All processes of a launch as one (src/model/merged.h), while they run: opens a session for each,
 * and reads all of them at each tick. Processes that start and end between two ticks are in no
 * sum. Main thread.
 */
#ifndef SRC_RUN_LAUNCH_SUM_H
#define SRC_RUN_LAUNCH_SUM_H

#include "src/run/process_tree.h"

struct launch_sum;

/* Processes that are read besides the launched one; each takes a thread and two descriptors. */
#define LAUNCH_SUM_MAX 64u

/* `main` must outlive it. NULL on allocation failure. */
struct launch_sum *launch_sum_new(struct process_tree *main);
void launch_sum_free(struct launch_sum *l);
/*
 * Reads all processes; `now` is the newest snapshot of the launched one, and may be NULL. One
 * reference, the caller's; NULL and errno.
 */
struct snapshot *launch_sum_tick(struct launch_sum *l, struct snapshot *now);
/* Waits for the names of all processes, for reports, until the time is over. */
void launch_sum_names_finish(struct launch_sum *l, uint64_t timeout_ns);
/* The histograms of one of its sites, over all processes. 0 or -errno. */
int launch_sum_detail(const struct launch_sum *l, uint32_t site, struct snap_detail *out);
/* The rules for naming sites changed. */
void launch_sum_hide_again(struct launch_sum *l);

#endif
