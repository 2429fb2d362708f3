/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The side beside the program: answers one desk. It reads the one segment that it was given and
 * what the kernel says of that process, and sends nothing else: no path, number or command that
 * comes from the desk is opened, but files that the process itself has mapped. It acts on the
 * program only if its own user allowed that. Main thread.
 */
#ifndef SRC_FAR_AGENT_H
#define SRC_FAR_AGENT_H

#include <stdatomic.h>

#include "src/far/steer.h"
#include "src/read/read.h"

struct far_agent {
	struct read_segment *segment;
	pid_t pid; /* as we see it; 0: it is not visible from here */
	const atomic_bool *stop; /* once it is true, serving ends; or NULL */
	bool sends_files; /* object files that it has mapped, for their symbols */
	/* The newest image of the process by exec; NULL: none after the first is recorded. The
	 * segment is the callee's, and stays open while this one is served. May be NULL. */
	struct read_segment *(*next)(void *ctx);
	void *next_ctx;
	/* Its recorded children in words, or "". May be NULL. */
	void (*children)(pid_t pid, char *out, size_t cap);
	const struct far_steer *steer; /* NULL: it may only read */
};

/*
 * Serves a desk over two descriptors, until it leaves or the process has ended and the desk knows
 * it. 0, or -errno: -EPIPE, the desk left; -EPROTO, it is no desk; -EINTR, it was
 * stopped.
 */
int far_agent_serve(const struct far_agent *a, int in, int out);

#endif
