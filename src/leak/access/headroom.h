/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether there is room for a copy of a process: memory for the pages that are written while it is
 * there, each of which is then there twice, and one process more. Asked before the process is
 * stopped; watched as long as the copy is there. One thread; watching has one of its own.
 */
#ifndef SRC_LEAK_ACCESS_HEADROOM_H
#define SRC_LEAK_ACCESS_HEADROOM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LEAK_HEADROOM_DIR    512u
#define LEAK_HEADROOM_LEVELS 64u /* of cgroups, of all kinds; a deeper one counts as unknown */

/* A cgroup that the process is in, or one of those above. */
struct leak_headroom_level {
	char dir[LEAK_HEADROOM_DIR];
	bool unified; /* of cgroup v2 */
	bool memory, pids; /* what it limits */
};

struct leak_headroom {
	const char *root; /* in which /proc is; "" but for tests */
	pid_t pid;
	uint64_t own_bytes; /* of memory that would be copied when it is written */
	struct leak_headroom_level level[LEAK_HEADROOM_LEVELS];
	size_t levels;
	/* The watch. */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool runs, ends, ended; /* ended: the copy, by the watch */
	pid_t copy;
};

/* NULL, or why a copy must not be made (static). */
const char *leak_headroom_check(struct leak_headroom *r, const char *root, pid_t pid);
/*
 * Whether the children of one of its threads are of its own pid namespace. The first child in a new
 * one is that's first process, and none can be made there any more when it ends.
 */
bool leak_headroom_has_namespace(pid_t pid, pid_t tid);
#define LEAK_HEADROOM_NAMESPACE "its children are in another pid namespace"
/* Whether memory has got short. */
bool leak_headroom_is_short(const struct leak_headroom *r);
/* From now on the copy is killed when memory gets short. False: no thread could be had. */
bool leak_headroom_watch(struct leak_headroom *r, pid_t copy);
/* The end of that, if it was begun. True: the copy was killed. */
bool leak_headroom_unwatch(struct leak_headroom *r);

#endif
