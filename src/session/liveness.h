/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that writes a segment: its pid as seen from here, and whether it still has the
 * segment mapped. After exec it has not: a new image with the library makes another segment, and
 * one without it is no longer recorded. Also the number of its children that are not recorded. Main
 * thread.
 */
#ifndef SRC_SESSION_LIVENESS_H
#define SRC_SESSION_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/model/snapshot.h"
#include "src/read/read.h"

#define LIVENESS_CORE_MAX 512

/* The segment is that of a core file. */
struct liveness_core {
	char notice[LIVENESS_CORE_MAX]; /* a line on the core */
	pid_t pid;
	int signal; /* that ended the process; 0: it ran on */
};

struct liveness {
	uint64_t due_ns; /* of the next check */
	unsigned without; /* checks in a row that did not find the segment mapped */
	bool alone; /* its children are not to be recorded */
	unsigned unrecorded, unrecorded_most; /* children not recorded: now, and the maximum */
	int32_t forked_by; /* the pid, as the program sees it; 0: it was started */
	bool renamed; /* the file does not have a segment's name: it is a copy */
	bool fork_alone; /* children that it forks are no longer recorded */
	const char *segment; /* the segment's path */
	bool full; /* its file system was full when the segment could not grow */
	bool is_core; /* the process is that of a core file */
	char text[LIVENESS_CORE_MAX]; /* the notice */
};

/* The process's pid as we see it, or the one it had; 0: it is not visible from here. */
pid_t liveness_pid(const struct read_segment *s, const struct read_identity *id);
/*
 * Whether a segment in state "recording" is a copy made meanwhile: the process runs, and has
 * another file mapped. Such a copy never changes.
 */
bool liveness_is_copy(const struct read_segment *s, const struct read_identity *id, pid_t pid);
/* The notice for a copy taken `uptime_ns` after the program's start. */
const char *liveness_copy_notice(struct liveness *h, int pid, uint64_t uptime_ns);
/* `s` must outlive this. `alone`: its children are not to be recorded. */
void liveness_open(struct liveness *h, const struct read_segment *s, const struct read_identity *id,
	bool alone);
/* The segment is that of a core file. The state of its process, and in *signal what ended it. */
enum snap_state liveness_of_core(struct liveness *h, const struct liveness_core *core, int *signal);
/* Checks a process that records (`state`), as often as its cost allows. */
void liveness_check(struct liveness *h, struct read_segment *s, uint32_t state, pid_t pid);
/*
 * A notice about the recording: that there was no room for it, that the process continues without
 * it, or what its end leaves open. NULL: none. `t`: the segment's totals.
 */
const char *liveness_notice(struct liveness *h, enum snap_state state, const struct read_totals *t);

/* "SIGSEGV", in `name`; NULL: there is no such signal. */
#define LIVENESS_SIGNAL_MAX 32
const char *liveness_signal(int signal, char name[LIVENESS_SIGNAL_MAX]);
/* What the library reports: that it switched itself off, or does not see everything. A line that
 * the caller frees; NULL: neither. */
char *liveness_report(struct read_segment *segment, uint32_t segment_state);
/* Whether a viewer, this or another, has detached from the program: figures are those of then. */
bool liveness_is_detached(struct read_segment *segment);

/* Whether the process that began at `start_ticks` still runs the segment's image. One that is not
 * visible from here (`pid` 0) does, until its segment says that it ended. */
bool liveness_is_here(pid_t pid, uint64_t start_ticks, uint32_t segment_state);
/* Whether the kernel takes apart a process whose segment says that it called exit. Its files may be
 * closed already. */
bool liveness_is_exiting(pid_t pid, uint32_t segment_state);

#endif
