/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's threads as a snapshot has them, but for their rates (src/model makes those): read
 * from the segment, named by /proc. The session calls this once a tick, on the main thread.
 */
#ifndef SRC_SESSION_THREADS_H
#define SRC_SESSION_THREADS_H

#include "src/model/snapshot.h"
#include "src/read/read.h"

#define THREADS_MAX 1024u /* rows; a program that has more shows these */

struct threads {
	struct snap_thread *thread; /* owned; by row */
	struct snap_share *share; /* owned; by site */
	size_t shares, room;
	unsigned looks;
};

/* Points `head` at the threads of now, or at none where they cannot be read. `pid`: where their
 * names are; 0: it has ended, and its first thread, head->pid, is called so if it had no name yet.
 */
void threads_look(
	struct threads *t, struct read_segment *segment, pid_t pid, struct snapshot *head);
/* Who allocated and freed at a site: out->thread. None where that cannot be read. */
void threads_of_site(struct read_segment *segment, uint32_t site, struct snap_detail *out);
/* From now on all sessions read who allocated at which site, and what of it is alive, or none does.
 */
void threads_want(bool wanted);
bool threads_wanted(void);
/* Points `head` at them, where they are wanted. After threads_look; ids are below `sites`. */
void threads_look_shares(
	struct threads *t, struct read_segment *segment, uint32_t sites, struct snapshot *head);
void threads_free(struct threads *t);

#endif
