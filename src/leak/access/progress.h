/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scan's progress, for the thread that waits for it, and that thread's request to cancel. Each
 * field is independent: none publishes other data. Any thread.
 */
#ifndef SRC_LEAK_ACCESS_PROGRESS_H
#define SRC_LEAK_ACCESS_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum leak_phase {
	LEAK_STOPPING, /* the program's threads */
	LEAK_READING, /* the program's memory, while it stands still */
	LEAK_FOLLOWING, /* pointers; the program runs again */
	LEAK_WAITING, /* for another heaptop's scan to end */
	LEAK_EXITING, /* for the program's last instant; its destructors run */
};

struct leak_progress {
	atomic_uint phase; /* enum leak_phase */
	atomic_ullong read_bytes;
	atomic_bool cancelled;
};

/* Whether the scan's result is no longer wanted. `p` may be NULL. */
static inline bool leak_progress_is_cancelled(const struct leak_progress *p)
{
	return p && p->cancelled;
}

#endif
