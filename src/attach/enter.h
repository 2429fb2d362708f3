/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library in the process, called by a proved thread; and its jumps, in or out. Each function is
 * called in the thread of attach_begin or attach_end, and stops the process in others. */
#ifndef SRC_ATTACH_ENTER_H
#define SRC_ATTACH_ENTER_H

#include "src/attach/phase.h"

/* Finds a thread, loads the library and has it prepare everything. 0; -ERESTART: a killed viewer
 * had begun that, and the process has ended it meanwhile; or -errno with a message. */
int attach_enter(struct attach_job *j, const struct attach_options *o);
/* Writes the jumps. 0, or -errno with a message. */
int attach_enter_jumps(struct attach_job *j);

#endif
