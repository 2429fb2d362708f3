/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's notes through heaptop.h: marks, which are taken at once; names of threads; and
 * requests, which are passed on to the code that can serve them. With several viewers, one
 * serves each request; but one on another machine cannot claim a note, so it serves those that
 * nobody had claimed in its copy, and takes each mark itself. Main thread.
 */
#ifndef SRC_SESSION_SAID_H
#define SRC_SESSION_SAID_H

#include <stdbool.h>

#include "src/marks/marks.h"
#include "src/model/snapshot.h"

#define SAID_THREADS_MAX 1024u /* names; the oldest are forgotten */

#define SAID_NOTICE_MAX 384

/* Zeroed, it has heard nothing. */
struct said {
	uint64_t seen; /* the last note's number */
	bool begun; /* it has heard the notes once: */
	uint64_t since; /* marks and requests up to this note's number are for nobody */
	bool scan; /* a leak scan, please */
	unsigned snapshot; /* a snapshot in a file, please: of this tick if it is 1, of the next
			      one if it is 2; 0: none */
	struct said_thread {
		uint32_t tid;
		/* Once it was among the program's threads: which of them, as the kernel gives the
		 * number of one that has ended to another. */
		bool found;
		uint32_t slot;
		uint64_t owners;
		char name[32];
	} * thread; /* owned */
	size_t threads, room;
	uint64_t lost; /* notes for us that were overwritten before we heard them */
	char unmarked[SAID_NOTICE_MAX]; /* why a mark is none, or in no file; "": it is */
	char notice[SAID_NOTICE_MAX];
};

/* Hears what is new: once a tick, before the marks are read. */
void said_hear(struct said *s, struct marks *marks, const struct marks_of *of);
/* Replaces the names of the threads that have named themselves. Those that have ended are
 * forgotten: they keep their names in `threads`, and nobody inherits them. */
void said_threads_name(struct said *s, struct snap_thread *threads, size_t count);
/* What was lost, or could not be done; NULL: nothing. Valid until the next call. */
const char *said_notice(struct said *s);
void said_free(struct said *s);

#endif
