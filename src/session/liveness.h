/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that a segment speaks of: which one it is, seen from here, and whether it still has
 * the segment mapped. By exec it loses it; a new image with the library then makes another one, and
 * one without goes unrecorded from there on. And which of its children go unrecorded. Main thread.
 */
#ifndef SRC_SESSION_LIVENESS_H
#define SRC_SESSION_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/model/snapshot.h"
#include "src/read/read.h"

struct liveness {
	uint64_t due_ns; /* of the next look */
	unsigned without; /* looks in a row at which it did not have the segment */
	bool alone; /* its children are not to be recorded */
	unsigned unrecorded, unrecorded_most; /* of its children, now and at once so far */
	int32_t forked_by; /* the pid, as the program sees it; 0: it was started */
	bool renamed; /* the file has no segment's name: somebody made a copy of one */
	bool fork_alone; /* children that it forks are not recorded any more */
	const char *segment; /* its path */
	bool full; /* its file system was, when it could not grow */
	char text[256]; /* of a notice */
};

/* Its pid as we see it, or the one it had; 0: it cannot be seen from here. */
pid_t liveness_pid(const struct read_segment *s, const struct read_identity *id);
/*
 * Whether a segment that says that its process records is a copy, made while it did: that process
 * runs, and has another file. Such a copy stands still.
 */
bool liveness_is_copy(const struct read_segment *s, const struct read_identity *id, pid_t pid);
/* The notice for a copy taken `uptime_ns` after the program's start. */
const char *liveness_copy_notice(struct liveness *h, int pid, uint64_t uptime_ns);
/* `s` must outlive this. `alone`: its children are not to be recorded. */
void liveness_open(struct liveness *h, const struct read_segment *s, const struct read_identity *id,
	bool alone);
/* Looks at a running process as often as it may cost, once its segment's `state` is that it
 * records. */
void liveness_check(struct liveness *h, struct read_segment *s, uint32_t state, pid_t pid);
/*
 * What is to be said of the recording: that there was no room for it, that the process goes on
 * without it, or what its end leaves open. NULL: nothing. `t`: the segment's.
 */
const char *liveness_notice(struct liveness *h, enum snap_state state, const struct read_totals *t);

#endif
