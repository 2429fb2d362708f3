/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detaching from processes one after the other, and one line about all of them. Main thread. */
#ifndef SRC_RUN_DETACHING_H
#define SRC_RUN_DETACHING_H

#include "src/attach/attach.h"

/* What was done, and what stays of it. */
struct detaching {
	uint64_t timeout_ns, stays;
	struct attach_pauses pauses;
	unsigned done, failed;
	int error;
	char why[ATTACH_MESSAGE_MAX]; /* of the first that failed */
	pid_t last; /* that was done */
};

/* Detaches from a process; one that has ended is neither done nor failed. */
void detaching_process(struct detaching *d, pid_t pid);
/* Detaches from the forked children of a launch, as far as they are recorded. */
void detaching_family(struct detaching *d, uint64_t family);
/* Says in `msg` what stays, or what failed. `pid`: who it was about. 0 or -errno. */
int detaching_say(const struct detaching *d, pid_t pid, char *msg, size_t cap);
/* Prints that a process stays recorded, and how to go on. */
void detaching_kept_say(pid_t pid);

#endif
