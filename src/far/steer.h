/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an agent may do to the program, if its user allowed it. Main thread of the agent; long
 * operations run in other threads. */
#ifndef SRC_FAR_STEER_H
#define SRC_FAR_STEER_H

#include <sys/types.h>

#include "src/far/wire.h"

struct far_steer {
	void *ctx;
	/* Begins a leak scan as a desk asks for it, of the process of this segment, `pid` as we see
	 * it, and ends one before it. 0 or -errno. */
	int (*begin)(void *ctx, const char *path, pid_t pid, const uint8_t *request, size_t len);
	/* Ends it soon. */
	void (*cancel)(void *ctx);
	/* How far it is: phase and read_bytes. True: it has ended, and what it found is in `found`
	 * until the next one begins. */
	bool (*look)(void *ctx, struct far_scanning *s, const struct bytes **found);
	/* The desk has left: the program is released before this returns. */
	void (*leave)(void *ctx);
};

#endif
