/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's threads for a snapshot: counters from the segment, names from /proc; src/model adds
 * their rates. The session calls this once a tick, on the main thread.
 */
#ifndef SRC_SESSION_THREADS_H
#define SRC_SESSION_THREADS_H

#include "src/model/snapshot.h"
#include "src/read/read.h"

#define THREADS_MAX 1024u /* rows at most */

struct threads {
	struct snap_thread *thread; /* owned; by row */
	struct snap_share *share; /* owned; by site */
	size_t shares, room;
	unsigned looks;
};

/* Points `head` at the present threads, or at none where they cannot be read. `pid`: the process in
 * /proc that has their names; 0: it has ended, and its first thread, if not named yet, is shown as
 * head->pid. */
void threads_read(
	struct threads *t, struct read_segment *segment, pid_t pid, struct snapshot *head);
/* The threads that allocated or freed at a site, into out->thread. None if unreadable. */
void threads_of_site(struct read_segment *segment, uint32_t site, struct snap_detail *out);
/* Switches the threads' shares of each site, and their live blocks, on or off for all sessions. */
void threads_want(bool wanted);
bool threads_wanted(void);
/* Points `head` at the shares, where they are on. After threads_read; all ids are below `sites`. */
void threads_read_shares(
	struct threads *t, struct read_segment *segment, uint32_t sites, struct snapshot *head);
void threads_free(struct threads *t);

#endif
