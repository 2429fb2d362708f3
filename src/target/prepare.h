/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The segment for a program about to be launched. It is made first, so that its memory is checked
 * before the program starts and the viewer sees the first allocation. Main thread.
 */
#ifndef SRC_TARGET_PREPARE_H
#define SRC_TARGET_PREPARE_H

#include "src/target/target.h"

struct prepared;

/* The value of an environment variable, or NULL when there is none or it is empty
 * (shm/directories.h). */
const char *prepare_variable(const char *name);
/* Makes a segment under an unguessable name. NULL and a message (TARGET_MESSAGE_MAX). */
struct prepared *prepare_segment(unsigned depth, char *message);
/* The same for a 32-bit program. */
struct prepared *prepare_segment_narrow(unsigned depth, char *message);
/* For a process that runs, in a directory that it sees. `first`: NULL, or one of the same family.
 */
struct prepared *prepare_segment_for(
	pid_t pid, const struct prepared *first, unsigned depth, char *message);
const char *prepare_path(const struct prepared *p);
/* The same as the process that it was made for sees it. */
const char *prepare_path_inside(const struct prepared *p);
/* The number of this launch, which is also in the segments of all its children. */
uint64_t prepare_family(const struct prepared *p);
/* Assigns it to a process, before that calls exec. 0 or -errno. */
int prepare_bind(struct prepared *p, pid_t pid);
/* The same for a process that runs: its pid is that of its own pid namespace. 0 or -errno. */
int prepare_bind_running(struct prepared *p, pid_t pid);
/* It is for this viewer alone, which watches a process from outside: to others it is no recording.
 * Before it is assigned. */
void prepare_outside(struct prepared *p);
/* Gives it to the user of the process that it is assigned to, who must be able to open it. Only
 * root can. 0 or -errno. */
int prepare_give(struct prepared *p, pid_t pid);
/* Fills in the command line and the executable of a process that has no library to do so, and makes
 * the sites for what it has. */
void prepare_describe(struct prepared *p, pid_t pid);
/* Takes a segment out of its family: its program will remove it at its end. 0 or -errno. */
int prepare_disown(const char *path);
/* Cancels the request that the program waits for a leak scan at its end. 0 or -errno. */
int prepare_unasked(const char *path);
/* Releases it: processes of the launch that start later remove their own segments. `remove` deletes
 * the file. */
void prepare_end(struct prepared *p, bool remove);

#endif
