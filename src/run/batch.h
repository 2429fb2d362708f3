/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -b: frames as text, one every --delay. Main thread. */
#ifndef SRC_RUN_BATCH_H
#define SRC_RUN_BATCH_H

#include "src/run/options.h"

/* Returns the exit status of heaptop. */
int batch_run(const struct options *o);

#endif
