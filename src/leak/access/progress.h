/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far a scan has come, for who waits for it in another thread, and that nobody waits any more.
 * Each is a number of its own, and nothing else is told by it. Any thread.
 */
#ifndef SRC_LEAK_ACCESS_PROGRESS_H
#define SRC_LEAK_ACCESS_PROGRESS_H

#include <stdatomic.h>

enum leak_phase {
	LEAK_STOPPING, /* the program's threads */
	LEAK_READING, /* its memory, while it stands still */
	LEAK_FOLLOWING, /* pointers; the program runs again */
	LEAK_WAITING, /* for another heaptop's scan to end */
	LEAK_EXITING, /* for the program's last instant; its destructors run */
};

struct leak_progress {
	atomic_uint phase; /* enum leak_phase */
	atomic_ullong read_bytes;
	atomic_bool cancelled;
};

#endif
