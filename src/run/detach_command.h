/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --detach. Main thread. */
#ifndef SRC_RUN_DETACH_COMMAND_H
#define SRC_RUN_DETACH_COMMAND_H

#include "src/run/options.h"

/* Detaches from each process, or from all recorded ones of a name, and prints a line
 * about each. The exit status. */
int detach_command_run(const struct options *o);

#endif
