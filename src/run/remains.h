/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages about a launched program when heaptop ends: how it died, or that it is still
 * running. Main thread.
 */
#ifndef SRC_RUN_REMAINS_H
#define SRC_RUN_REMAINS_H

#include <stdbool.h>
#include <sys/types.h>

struct remains {
	pid_t child; /* 0: nothing was launched */
	bool ended, asked, hung_up; /* asked: to end, by SIGTERM */
	int wait_status; /* if it ended */
	const char *kept; /* the segment of a crash; NULL: none */
};

/* Death by a signal that crashes send leaves a segment worth inspecting. */
bool remains_is_crash(int wait_status);
/* On stderr, if there is something to say. */
void remains_print(const struct remains *r);

#endif
