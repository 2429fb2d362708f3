/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The marks of one image of a process, in a file. They outlive the viewer that took them, all
 * viewers of the process share them, and scripts can add to them. The file is text; writers only
 * append to it, one at a time (flock):
 *
 *	heaptop-marks 1
 *	mark NUMBER NS SITES LIVE_BYTES LIVE_BLOCKS ALLOCS ALLOC_BYTES NAME
 *	ID LIVE_BYTES LIVE_BLOCKS ALLOCS ALLOC_BYTES	(SITES lines)
 *	end NUMBER
 *	name NUMBER NAME
 *
 * It lies in $XDG_STATE_HOME/heaptop, or ~/.local/state/heaptop. Its name identifies the process:
 * our pid namespace, boot, pid, start time and image. It is removed with the process by the viewer
 * that sees its end, and else by a later heaptop. Main thread.
 */
#ifndef SRC_MARKS_MARK_FILE_H
#define SRC_MARKS_MARK_FILE_H

#include "src/model/mark_list.h"
#include "src/read/read.h"

#define MARK_FILE_PATH_MAX 4096

struct mark_file {
	char path[MARK_FILE_PATH_MAX]; /* "": no file is available */
	uint64_t read; /* bytes loaded so far */
};

/* Determines where this image's marks are, or would be; `pid` as we see it. 0 or -errno. */
int mark_file_find(struct mark_file *f, const struct read_identity *id, pid_t pid);
/* Adds the marks since the last load to `m`. True if there were any. */
bool mark_file_load(struct mark_file *f, struct mark_list *m);
/* Appends a moment under the next number, and loads. 0 or -errno, with nothing written. */
int mark_file_add(struct mark_file *f, struct mark_list *m, struct snap_mark *moment);
int mark_file_name(struct mark_file *f, unsigned number, const char *name);
/* Removes the file: the process is gone. */
void mark_file_remove(struct mark_file *f);
/* Removes the files of all processes that are gone, an hour after their last mark, but not `own`:
 * who looks at a process needs its marks when it has ended, too. */
void mark_file_clean(const struct mark_file *own);

#endif
