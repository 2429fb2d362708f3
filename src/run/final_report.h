/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --report: waits for the program's end and writes one report. Main thread. */
#ifndef SRC_RUN_FINAL_REPORT_H
#define SRC_RUN_FINAL_REPORT_H

#include "src/run/options.h"

/* Returns the exit status of heaptop. */
int final_report_run(const struct options *o);

#endif
