/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r of a JSON report, with a report or a frame. Main thread. */
#ifndef SRC_RUN_STILL_REPORT_H
#define SRC_RUN_STILL_REPORT_H

#include "src/run/options.h"

/* Writes what the options ask for. Returns the exit status: 0; 1 if --fail-on fired; or, after one
 * line on stderr, that of an error. */
int still_report_run(const struct options *o);

#endif
