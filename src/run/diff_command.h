/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --diff, as a report: loads the files, compares, writes, judges. Main thread. */
#ifndef SRC_RUN_DIFF_COMMAND_H
#define SRC_RUN_DIFF_COMMAND_H

#include "src/run/options.h"

/* Returns the exit status: 0; 1 if --fail-on fired; or, after one line on stderr, that of an error.
 */
int diff_command_run(const struct options *o);

#endif
