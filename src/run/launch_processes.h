/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of a launch through their lives: what each holds, and what those that ended have
 * held at most. Costs a read of a segment's header per running process and tick. Main thread.
 */
#ifndef SRC_RUN_LAUNCH_PROCESSES_H
#define SRC_RUN_LAUNCH_PROCESSES_H

#include "src/model/processes.h"
#include "src/model/snapshot.h"
#include "src/target/target.h"

struct launch_processes;

/* Processes that are kept: those that run, however many, and of those that ended the ones with the
 * highest peaks, as far as there is room. */
#define LAUNCH_PROCESSES_MAX 512u

struct launch_process {
	uint64_t id; /* processes_id */
	uint64_t parent; /* id of the nearest recorded ancestor; 0: there is none */
	pid_t pid; /* as we see it */
	pid_t ppid;
	uint32_t exec_gen; /* of its newest image */
	uint64_t live_bytes, peak_bytes; /* as last read; peak: of all its images */
	uint64_t began_ns; /* realtime: when its first image that was seen began */
	uint64_t image_ns; /* realtime: when its newest image began */
	bool elsewhere; /* in a pid namespace that is not visible from ours */
	bool forked; /* its newest image is a child that has not called exec */
	bool ended;
	int status; /* how, in waitpid's terms; -1: unknown */
	int pidfd; /* -1: none */
	uint64_t start_ticks;
	char path[256]; /* of the newest image's segment; "": it is gone */
	char command[256]; /* clean */
};

/* NULL on allocation failure. */
struct launch_processes *launch_processes_new(void);
void launch_processes_free(struct launch_processes *l);
/* A segment of the launch is there. A process's newest image comes first. */
void launch_processes_note(struct launch_processes *l, const struct target_segment *t);
/* A segment, of the launch or not, is about to be removed: reads it for the last time. */
void launch_processes_removing(struct launch_processes *l, const char *path);
/* Reads what the running processes hold, and which of them have ended. */
void launch_processes_tick(struct launch_processes *l);
/* How the process ended that the viewer itself has started, in waitpid's terms. */
void launch_processes_ended(struct launch_processes *l, pid_t pid, int status);
/* Those that are kept, in no order. Valid until the next call of the others. */
size_t launch_processes_all(
	const struct launch_processes *l, const struct launch_process *const **all);
/* How the process ended whose newest image is `exec_gen`, in waitpid's terms; -1: not known. */
int launch_processes_status(const struct launch_processes *l, uint64_t id, uint32_t exec_gen);
/* A process as a row of a list, without what only /proc knows. */
void launch_processes_row(const struct launch_process *p, struct process_row *row);
/* The launch without the process `but`, which may be 0. */
struct snap_launch launch_processes_sum(const struct launch_processes *l, uint64_t but);

#endif
