/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -a and -r name, checked before anything is opened for it. Main thread. */
#ifndef SRC_RUN_ARGUMENT_H
#define SRC_RUN_ARGUMENT_H

#include "src/run/options.h"

/* Whether there is no such file or process, or it is no file of ours: 0, or FAILURE_EXIT after one
 * line. What else may be wrong shows when it is opened. */
int argument_check(const struct options *o);

#endif
