/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scan's copy of the process (copy.h), from whether there may be one to its end. The thread that
 * stops the process.
 */
#ifndef SRC_LEAK_ACCESS_COPY_ACCESS_H
#define SRC_LEAK_ACCESS_COPY_ACCESS_H

#include "src/leak/access/forked_copy.h"
#include "src/leak/access/headroom.h"
#include "src/leak/access/space.h"
#include "src/leak/access/uncopied.h"

struct leak_copy_access {
	struct leak_forked_copy copy;
	struct leak_headroom headroom;
	struct leak_uncopied wiped; /* what the copy would have empty */
	bool wiped_known;
	bool wanted; /* one is to be made */
	const char *why_not; /* though it would be worth it; static */
	bool used; /* it is read instead of the process */
	bool lost; /* it ended before it was read */
	bool left; /* leak_copy_end */
};

/*
 * What takes longer than the process is to stand still; before that is stopped. Memory less than
 * `least` is not worth a copy.
 */
void leak_copy_access_prepare(struct leak_copy_access *c, pid_t pid, uint64_t least);
/* It is not to be made, for this reason (static). */
void leak_copy_access_refuse(struct leak_copy_access *c, const char *why);
/*
 * Of a process that stands still: makes the copy, if there is to be one, and has `space` read that.
 * 0: `used` tells; -errno: a thread was lost.
 */
int leak_copy_access_take(
	struct leak_copy_access *c, struct leak_stop *stop, struct leak_space *space, uint64_t at);
/* The process goes on. 0, or -ENOMEM: the copy is lost. */
int leak_copy_access_begin(struct leak_copy_access *c);
/* The copy goes, after the process has been let go. 0, or -ENOMEM: it was lost, and nothing that
 * was read of it counts. */
int leak_copy_access_end(struct leak_copy_access *c);

#endif
