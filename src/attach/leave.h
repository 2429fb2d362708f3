/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves the process. The thread of attach_begin or attach_end calls this; other threads of the
 * viewer stop the process. */
#ifndef SRC_ATTACH_LEAVE_H
#define SRC_ATTACH_LEAVE_H

#include "src/attach/phase.h"

/* Takes all jumps out, waits until no thread is in the library, and has it release all it holds. 0,
 * or -errno with a message: recording is off, or as it was. Nothing to do is no failure. */
int attach_leave(struct attach_job *j);

#endif
