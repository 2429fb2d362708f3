/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads one moment of a program from a file of any kind: a segment that was left behind, a JSON
 * report. Main thread.
 */
#ifndef SRC_RUN_LOAD_H
#define SRC_RUN_LOAD_H

#include "src/model/snapshot.h"
#include "src/run/options.h"

#define LOAD_MESSAGE_MAX 256

/*
 * A snapshot with all names, and all that it points to: one reference, the caller's. NULL and one
 * line in `message` (LOAD_MESSAGE_MAX).
 */
struct snapshot *load_open(const char *path, const struct options *o, char *message);

#endif
