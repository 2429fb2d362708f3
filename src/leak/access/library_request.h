/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests to the library of a program that we may not trace (shm/layout.h, struct ht_coop): it
 * acts on them at one of the program's next allocations. One viewer at a time. One thread.
 */
#ifndef SRC_LEAK_ACCESS_LIBRARY_REQUEST_H
#define SRC_LEAK_ACCESS_LIBRARY_REQUEST_H

#include "src/leak/access/progress.h"
#include "src/read/cooperation.h"
#include "src/read/read.h"

/* The reason where the program does not allocate. */
#define LEAK_LIBRARY_REQUEST_IDLE "it does not allocate at the moment, so its library cannot help"

struct leak_library_request {
	struct read_coop *coop;
	pid_t pid;
	struct leak_progress *progress;
	bool idle; /* the library did not answer, so it is not asked again */
};

/* NULL with the reason in *why (static): the library must not be asked, or another heaptop was
 * asking it all the time that we waited. *rc, if not 0, is the error to append to it. */
struct leak_library_request *leak_library_request_open(struct read_segment *segment, pid_t pid,
	struct leak_progress *progress, const char **why, int *rc);
void leak_library_request_close(struct leak_library_request *l);
/* Asks, and repeats that while the program's last copy is about to end. 0; -ETIMEDOUT: it does not
 * allocate; or the library's error. */
int leak_library_request_ask(struct leak_library_request *l, enum ht_coop_ask what);

#endif
