/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r RECORDING with a report, or -b: the program and its children at one moment. Main
 * thread. */
#ifndef SRC_RUN_REPLAY_REPORT_H
#define SRC_RUN_REPLAY_REPORT_H

#include "src/run/options.h"

/* Returns the exit status of heaptop. */
int replay_report_run(const struct options *o);

#endif
