/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts recording a process that was not started under heaptop, and later leaves it as it was.
 * The viewer may be killed at any instant: the process then continues correctly, and the next
 * viewer finds what was left behind. Each call blocks, for at most attach_timeout, and stops
 * threads of the process for moments. One thread of the viewer at a time, which must end or
 * detach before another one traces.
 */
#ifndef SRC_ATTACH_ATTACH_H
#define SRC_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/attach/terms.h"

enum attach_state {
	ATTACH_NONE, /* nothing of ours is there */
	ATTACH_RECORDED, /* it was attached to: heaptop_attached says where its segment is */
	ATTACH_LEFTOVER, /* something inert: the library, pads */
	ATTACH_BROKEN_OFF, /* a viewer was killed in the middle: attach_begin and attach_end mend it
			    */
};

/*
 * Whether `pid` can be attached to, without touching it. 0, or -errno with a message of one line:
 * what stands against it, and what would help.
 */
int attach_check(pid_t pid, char *message);
/* What an earlier viewer has left in the process. */
enum attach_state attach_state_of(pid_t pid);
/* Loads the library if it is not there, and switches the recording on. 0, or -errno with a message:
 * the process is as it was. */
int attach_begin(pid_t pid, const struct attach_options *o, struct attach_pauses *p, char *message);
/* Takes all jumps out, and has the library release its segment. What stays, inert: *stays bytes. 0,
 * or -errno with a message. Without a pause if nothing of ours is there. */
int attach_end(
	pid_t pid, uint64_t timeout_ns, struct attach_pauses *p, uint64_t *stays, char *message);

#endif
