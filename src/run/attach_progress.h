/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is being done while heaptop attaches, on stderr: one line that is written anew on a
 * terminal, and lines elsewhere. Signals end it. Main thread.
 */
#ifndef SRC_RUN_ATTACH_PROGRESS_H
#define SRC_RUN_ATTACH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach_progress {
	pid_t pid;
	bool terminal, written;
	uint64_t begin_ns, said_ns;
	char last[128];
};

/* Catches signals (signals.h) until attach_progress_end. */
void attach_progress_begin(struct attach_progress *p, pid_t pid);
/* attach_options.progress: false after a signal. */
bool attach_progress_say(void *progress, const char *text);
/* Removes the line. */
void attach_progress_end(struct attach_progress *p);

#endif
