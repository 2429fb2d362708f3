/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory headroom for a copy of a process: memory for the pages that are written while the copy
 * exists, each of which then exists twice, and one more process. Checked before the process is
 * stopped, watched while the copy exists. One thread; the watch has a thread of its own.
 */
#ifndef SRC_LEAK_ACCESS_HEADROOM_H
#define SRC_LEAK_ACCESS_HEADROOM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LEAK_HEADROOM_DIR    512u
#define LEAK_HEADROOM_LEVELS 64u /* cgroups; with more, the limits are unknown */

/* A cgroup of the process, or one of its ancestors. */
struct leak_headroom_level {
	char dir[LEAK_HEADROOM_DIR];
	bool unified; /* it is of cgroup v2 */
	bool memory, pids; /* what it limits */
};

struct leak_headroom {
	const char *root; /* the directory that contains proc/; "" except in tests */
	pid_t pid;
	uint64_t own_bytes; /* private memory: each page is copied when it is written */
	struct leak_headroom_level level[LEAK_HEADROOM_LEVELS];
	size_t levels;
	/* The watch. */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool runs, ends, ended; /* ended: the watch has killed the copy */
	pid_t copy;
};

/* NULL, or why a copy must not be made (static). */
const char *leak_headroom_check(struct leak_headroom *r, const char *root, pid_t pid);
/*
 * Whether a thread's children are in the process's own pid namespace. The first child in a new
 * namespace is its init, and after its end no more processes can be made there.
 */
bool leak_headroom_has_namespace(pid_t pid, pid_t tid);
#define LEAK_HEADROOM_NAMESPACE "its children are in another pid namespace"
/* Whether memory is short. */
bool leak_headroom_is_short(const struct leak_headroom *r);
/* Starts the watch: the copy is killed when memory gets short. False: no thread started. */
bool leak_headroom_watch(struct leak_headroom *r, pid_t copy);
/* Ends the watch, if it was started. True: it has killed the copy. */
bool leak_headroom_unwatch(struct leak_headroom *r);

#endif
