/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the blocks that an attached program had allocated before it was recorded: walks glibc's
 * heaps at an instant when no thread is inside malloc, and leaves out the blocks in the live
 * table, which were allocated later. Any thread; a separate thread stops the process, and the
 * call waits for it.
 */
#ifndef SRC_LEAK_BEFORE_H
#define SRC_LEAK_BEFORE_H

#include "src/leak/analysis/blocks.h"
#include "src/leak/access/progress.h"
#include "src/leak/access/space.h"
#include "src/read/read.h"

struct leak_before {
	uint64_t blocks, bytes; /* of glibc's heaps that are live, in usable bytes */
	bool known; /* another viewer has published it: nothing was done, and the rest is 0 */
	bool whole; /* the heaps were understood, and no thread was inside malloc */
	unsigned arenas; /* 0: there is no heap of glibc's */
	unsigned busy; /* threads that did not leave malloc: each may count a block too many */
	uint64_t stop_ns; /* how long the process stood still */
	uint64_t find_ns; /* all of it */
	bool copied; /* a copy was read, and the process went on */
};

/*
 * Finds it and publishes it in the segment, if that was not done. `progress` may be NULL. 0, or
 * -errno with one line in `message` (TRACE_MESSAGE_MAX); -ENOENT: the program was recorded from its
 * start.
 */
int leak_before_publish(struct read_segment *segment, pid_t pid, struct leak_progress *progress,
	struct leak_before *out, char *message);

/*
 * For a leak scan, at its instant: appends to `fresh` the blocks in use that are not in `known`,
 * which is finished, with their sites. *whole: there are no others. Nothing, if the program was
 * recorded from its start. 0 or -errno.
 */
int leak_before_blocks(struct read_segment *segment, struct leak_space *space,
	const struct leak_blocks *known, struct leak_blocks *fresh, bool *whole);
/*
 * For a running program that is not recorded: counts all blocks of glibc's heaps in its segment,
 * which only the viewer has, and which before_prepare was called for. Replaces what it counted
 * before. 0; -EAGAIN: the heap changed too fast, and nothing was counted; -EPERM: it cannot be
 * read; or -errno.
 */
int leak_before_outside(struct read_segment *segment, pid_t pid, struct leak_progress *progress);
/*
 * For a map of a running program, where a row of chunks may change as it is read: adds the blocks
 * to `blocks`, which is finished and stays so. If they are not all known: none, and *partial. 0 or
 * -errno.
 */
int leak_before_running(struct read_segment *segment, struct leak_space *space,
	struct leak_blocks *blocks, bool *partial);

#endif
