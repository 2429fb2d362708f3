/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library's settings in the program's environment. Main thread. */
#ifndef SRC_RUN_LAUNCH_ENVIRONMENT_H
#define SRC_RUN_LAUNCH_ENVIRONMENT_H

#include "src/run/options.h"

/* Whether the file of --allocators can be used: prints what is wrong with it, each line by its
 * number. 0, or the exit status; 0 without the option. */
int launch_environment_check(const struct options *o);
/* What --allocators says, as the program must read it: a full path, or "none". NULL: not given, or
 * gone. Static. */
const char *launch_environment_allocators(const struct options *o);
/* NAME=VALUE, for target_launch; valid until the next call. */
const char *const *launch_environment(const struct options *o);

#endif
