/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -a PID --trace SITE: a line for each allocation at a call site. Main thread. */
#ifndef SRC_RUN_TRACE_COMMAND_H
#define SRC_RUN_TRACE_COMMAND_H

#include "src/run/options.h"

/* Until the program ends or a signal comes. Returns the exit status of heaptop. */
int trace_command_run(const struct options *o);

#endif
