/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of this machine that the user may want to watch: all, those with a given name, or
 * a process with its descendants. Read from /proc at each call. Main thread.
 */
#ifndef SRC_TARGET_PROCESSES_H
#define SRC_TARGET_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESSES_LIST_MAX 4096u /* more are not searched */

struct target_process {
	pid_t pid, ppid;
	uid_t uid;
	uint64_t start_ticks, rss_bytes, cpu_ticks;
	char state; /* the kernel's letter */
	bool recorded; /* it has a segment and runs */
	char command[256]; /* command line, or the kernel's name for it; clean and cut */
};

/*
 * The processes that run a program of this name: its path, its file's name, the first word of its
 * command line or that word's last component, or the name that the kernel shows (comm, 15 bytes).
 * Of every user, but neither kernel threads nor ourselves. NULL: all of our user's; of every user
 * for root. By pid; at most `max`. Returns their number, or -errno.
 */
ssize_t target_processes(const char *name, struct target_process *out, size_t max);
/* `root` and its descendants that run, each after its parent. Returns their number, of which the
 * first `max` are in `out`; or -errno. */
ssize_t target_descendants(pid_t root, pid_t *out, size_t max);

#endif
