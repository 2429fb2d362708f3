/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptop --record or --record-events without a screen and without a report: for servers, units and
 * containers. Main thread.
 */
#ifndef SRC_RUN_RECORD_RUN_H
#define SRC_RUN_RECORD_RUN_H

#include "src/run/options.h"

/*
 * Whether a recording runs without a screen: as --headless says, or because standard output is no
 * terminal or belongs to other programs in the foreground.
 */
bool record_run_is_headless(const struct options *o);
/* Records until the program ends, or a signal. Returns the exit status of heaptop. */
int record_run(const struct options *o);

#endif
