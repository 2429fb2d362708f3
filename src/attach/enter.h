/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has a proved thread load and call the library, and writes or removes the jumps. The thread of
 * attach_begin or attach_end calls each function; other threads of the viewer stop the process. */
#ifndef SRC_ATTACH_ENTER_H
#define SRC_ATTACH_ENTER_H

#include "src/attach/phase.h"

/* Finds a thread, loads the library and has it prepare everything. 0; -ERESTART: a killed viewer
 * had begun that, and the process has ended it meanwhile; or -errno with a message. */
int attach_enter(struct attach_job *j, const struct attach_options *o);
/* Writes the jumps. 0, or -errno with a message. */
int attach_enter_jumps(struct attach_job *j);

#endif
