/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way by which the viewer has an agent work, of one kind and about one process. Main thread of
 * the desk. */
#ifndef SRC_FAR_ORDER_H
#define SRC_FAR_ORDER_H

#include "src/far/wire.h"

#define FAR_ORDER_WAIT_MS 100 /* for one `take` of those that wait for the end of the work */

/* One at a time. */
struct far_order {
	void *ctx;
	/* Asks for it; what was asked for before is forgotten. 0, -EPERM: the agent may only read;
	 * or another -errno. */
	int (*begin)(void *ctx, const struct bytes *request);
	void (*cancel)(void *ctx);
	/*
	 * Takes what has come, or waits for it `timeout_ms` at most. 1: it has ended, and what it
	 * found is in `answer` until the next call; 0: not yet; or -errno and one line in `why`,
	 * which is valid as long. `said`: how far it is; its phase is not checked. Without a screen
	 * it does not return 0 for ever: an agent that sends nothing for long is -ETIMEDOUT, soon
	 * if a signal asks us to end.
	 */
	int (*take)(void *ctx, int timeout_ms, struct far_working *said,
		struct bytes_cursor *answer, const char **why);
	/* Readable when there may be something to take; -1: never. */
	int (*fd)(void *ctx);
};

#endif
