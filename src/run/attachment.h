/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What -a does for a run: finds the segment of a recorded process, attaches to one that is not
 * recorded, or prepares to watch it from outside; and detaches at the end. Main thread.
 */
#ifndef SRC_RUN_ATTACHMENT_H
#define SRC_RUN_ATTACHMENT_H

#include "src/attach/attach.h"
#include "src/model/snapshot.h"
#include "src/run/options.h"

struct attachment;

/*
 * Attaches to options.pid, and to the other processes that the options name. Blocks until a process
 * can be attached to, and reports the progress on stderr; a signal ends that. 0, or after one line
 * on stderr the exit status to end with.
 */
int attachment_open(struct attachment **out, const struct options *o);
/*
 * Whether options.pid has another segment now than attachment_path said, since it called exec
 * before that was opened. Waits for it until the time to attach is over. From now on that is its
 * segment.
 */
bool attachment_has_moved(struct attachment *a);
/* The segment of options.pid. */
const char *attachment_path(const struct attachment *a);
/* That of all segments made by this viewer; 0: it made none. */
uint64_t attachment_family(const struct attachment *a);
/* About a process; NULL: none of ours. */
const struct snap_attach *attachment_facts(struct attachment *a, pid_t pid);
/* A line for the screen, as long as the attachment lives; NULL: nothing is to be said. */
const char *attachment_notice(const struct attachment *a);
/* Whether this viewer has attached to a process, and not yet detached from it. */
bool attachment_is_ours(const struct attachment *a);
/*
 * Detaches from a process; pid 0: from all that this viewer attached to, and from their children,
 * or without any from options.pid. 0 or -errno; `msg` gets a line that says what stays, or what
 * failed.
 */
int attachment_detach(struct attachment *a, pid_t pid, char *msg, size_t cap);
/* They stay recorded. */
void attachment_keep(struct attachment *a);
/* At the end: detaches, unless that was done or they are to stay recorded, and says on stderr what
 * stays, or how to record a process that was watched from outside. */
void attachment_leave(struct attachment *a);
/* Removes what no process uses any more. After all sessions are closed. */
void attachment_free(struct attachment *a);

/* Detaches from one process. `msg`: as above. 0 or -errno. */
int attachment_detach_process(pid_t pid, const struct options *o, char *msg, size_t cap);

#endif
