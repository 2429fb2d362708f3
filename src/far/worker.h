/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of one kind that an agent does for its desk. Main thread of the agent; what takes time is
 * done elsewhere. */
#ifndef SRC_FAR_WORKER_H
#define SRC_FAR_WORKER_H

#include <sys/types.h>

#include "src/far/wire.h"
#include "src/read/read.h"

struct far_worker {
	void *ctx;
	/* Begins as a desk asks for it, about the process of this segment, which may be closed
	 * later, `pid` as we see it, and ends what was begun before. 0 or -errno; -EPROTO: this is
	 * no request. */
	int (*begin)(void *ctx, const struct read_segment *segment, pid_t pid,
		const uint8_t *request, size_t len);
	/* Ends it soon; what has ended keeps nothing for the next one. */
	void (*cancel)(void *ctx);
	/* How far it is: phase and read_bytes. True: it has ended, and what it found is in `found`
	 * until the next begin. */
	bool (*look)(void *ctx, struct far_working *s, const struct bytes **found);
	/* The desk has left: the program is released before this returns. */
	void (*leave)(void *ctx);
};

#endif
