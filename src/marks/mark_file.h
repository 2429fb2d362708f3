/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The marks of one image of a process, in a file: so they outlive the viewer that took them, are
 * seen by all viewers of the process, and are taken by scripts. Text, only ever appended to, by one
 * at a time (flock):
 *
 *	heaptop-marks 1
 *	mark NUMBER NS SITES LIVE_BYTES LIVE_BLOCKS ALLOCS ALLOC_BYTES NAME
 *	ID LIVE_BYTES LIVE_BLOCKS ALLOCS ALLOC_BYTES	(SITES lines)
 *	end NUMBER
 *	name NUMBER NAME
 *
 * In $XDG_STATE_HOME/heaptop, or ~/.local/state/heaptop, under a name that says which process it is
 * of: our pid namespace, boot, pid, start time and image. A file whose process is gone is removed
 *by the next who looks into the directory. Main thread.
 */
#ifndef SRC_MARKS_MARK_FILE_H
#define SRC_MARKS_MARK_FILE_H

#include "src/model/moments.h"
#include "src/read/read.h"

#define MARK_FILE_PATH_MAX 4096

struct mark_file {
	char path[MARK_FILE_PATH_MAX]; /* "": there is none to be had */
	uint64_t read; /* bytes of it that were taken */
};

/* Where the marks of this image are, or would be; `pid` as we see it. 0 or -errno. */
int mark_file_find(struct mark_file *f, const struct read_identity *id, pid_t pid);
/* Adds to `m` what has come since the last time. True if that was anything. */
bool mark_file_load(struct mark_file *f, struct moments *m);
/* Appends a moment under the next number, and loads. 0 or -errno, with nothing written. */
int mark_file_add(struct mark_file *f, struct moments *m, struct snap_moment *moment);
int mark_file_name(struct mark_file *f, unsigned number, const char *name);
/* The process is gone. */
void mark_file_remove(struct mark_file *f);
/* Removes the files of all processes that are gone. */
void mark_file_clean(void);

#endif
