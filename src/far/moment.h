/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an agent reports of its process at one moment, in addition to the segment. Plain data. */
#ifndef SRC_FAR_MOMENT_H
#define SRC_FAR_MOMENT_H

#include "src/far/wire.h"
#include "src/proc/proc.h"

struct far_thread {
	uint32_t tid;
	char name[FAR_NAME_MAX]; /* cleaned */
};

struct far_moment {
	struct far_hello agent;
	struct far_tick tick;
	struct proc_reading process;
	bool has_process; /* else it had ended before it was read */
	uint64_t here_ns; /* our CLOCK_MONOTONIC when the tick was there */
	struct far_thread *threads;
	size_t nthreads;
};

/* FAR_PROCESS: `process`, NULL for none, and the names of threads, or none where they are those of
 * the last frame. */
void far_process_put(struct bytes *b, const struct proc_reading *process,
	const struct far_thread *threads, size_t count);
/* Changes `process`, and `threads` if there are any. 0, -EPROTO or -ENOMEM. */
int far_process_get(struct bytes_cursor *c, struct far_moment *m);

#endif
