/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program says of itself through heaptop.h: marks, which it takes at once; names of
 * threads; and requests, which it passes on to whoever can serve them. With several viewers, one
 * serves each request. Main thread.
 */
#ifndef SRC_SESSION_SAID_H
#define SRC_SESSION_SAID_H

#include <stdbool.h>

#include "src/marks/marks.h"
#include "src/model/snapshot.h"

#define SAID_THREADS_MAX 64u /* names; later ones are ignored */

/* Zeroed, it has heard nothing. */
struct said {
	uint64_t seen; /* the last note's number */
	uint64_t since_ns; /* requests made before that are for nobody; 0: not known yet */
	bool scan; /* a leak scan, please */
	unsigned snapshot; /* a snapshot in a file, please: of this tick if it is 1, of the next
			      one if it is 2; 0: none */
	struct said_thread {
		uint32_t tid;
		char name[32];
	} thread[SAID_THREADS_MAX];
	unsigned threads;
};

/* Hears what is new: once a tick, before the marks are read. */
void said_hear(struct said *s, struct marks *marks, const struct marks_of *of);
/* Replaces the names of the threads that have named themselves. */
void said_threads_name(const struct said *s, struct snap_thread *threads, size_t count);

#endif
