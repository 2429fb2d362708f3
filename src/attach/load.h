/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads libheaptop.so into a process, by one of its proved threads (prove.h). The thread that
 * stopped the process. */
#ifndef SRC_ATTACH_LOAD_H
#define SRC_ATTACH_LOAD_H

#include "src/attach/phase.h"

#define ATTACH_CALL_NS                                                                             \
	UINT64_C(10000000000) /* for the loader, and for our library's preparations */

/* Loads `library` (a path as we see it) unless it is there; the process sees it under the same
 * path, or else gets it in memory. 0, or -errno with a message. */
int attach_load(struct attach_job *j, struct trace_remote *r, const char *library);
/* Closes what a viewer that was killed has left open. 0, or -EIO: the thread is lost. */
int attach_load_close(struct attach_job *j, struct trace_remote *r);
/* Whether there is such a thing. */
bool attach_load_is_open(pid_t pid);

#endif
