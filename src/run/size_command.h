/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --sizes SITE: every size of a call site's live blocks. Main thread. */
#ifndef SRC_RUN_SIZE_COMMAND_H
#define SRC_RUN_SIZE_COMMAND_H

#include "src/run/options.h"

/* A line for each size, those with the most bytes first. Returns the exit status. */
int size_command_run(const struct options *o);

#endif
