/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent, on the program's machine, answers one desk. It reads the segment that it was given,
 * those of the same launch, and the kernel's figures of these processes, and sends nothing else.
 * It opens no path that comes from the desk, and runs no command from it, except that it reads
 * files that the process itself has mapped. It acts on the program only if its own user allowed
 * that. Main thread.
 */
#ifndef SRC_FAR_AGENT_H
#define SRC_FAR_AGENT_H

#include <stdatomic.h>

#include "src/far/agent_view.h"
#include "src/far/worker.h"
#include "src/read/read.h"

/* The recorded processes that belong to the first: its launch's, or its children. */
struct far_others {
	void *ctx;
	/* Fills FAR_ROWS_MAX rows at most, and returns their number; *more: those without. */
	size_t (*list)(void *ctx, struct far_row *rows, uint64_t *more);
	/* Opens the process `id` if it is one of them now, for a view that is not open: it stays
	 * open until `close`. 0, or -errno and one line in `why`. */
	int (*open)(void *ctx, unsigned view, uint64_t id, struct far_process *out, char *why,
		size_t cap);
	void (*close)(void *ctx, unsigned view);
};

struct far_agent {
	struct far_process first; /* view 0 */
	const struct far_others *others; /* NULL: it alone is shown */
	const atomic_bool *stop; /* once it is true, serving ends; or NULL */
	bool exits; /* the first one waits at its end for a leak scan, if the desk makes one */
	bool sends_files; /* object files that it has mapped, for their symbols */
	/* Its recorded children in words, or "". May be NULL. */
	void (*children)(pid_t pid, char *out, size_t cap);
	const struct far_worker *worker[FAR_KINDS]; /* NULL: that is not allowed */
};

/*
 * Serves a desk over two descriptors, until it leaves or the process has ended and the desk knows
 * it. 0, or -errno: -EPIPE, the desk left; -EPROTO, it is no desk; -EINTR, it was
 * stopped.
 */
int far_agent_serve(const struct far_agent *a, int in, int out);

#endif
