/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --save FILE -a PID. Main thread. */
#ifndef SRC_RUN_SAVE_COMMAND_H
#define SRC_RUN_SAVE_COMMAND_H

#include "src/run/options.h"

/* Attaches if need be, writes the file, and says what it has. Returns the exit status. */
int save_command_run(const struct options *o);

#endif
