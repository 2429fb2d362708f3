/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads one moment of a program from a file of any kind: a segment that was left behind, a JSON
 * report, a recording. Main thread.
 */
#ifndef SRC_RUN_LOAD_H
#define SRC_RUN_LOAD_H

#include "src/model/snapshot.h"
#include "src/run/options.h"

/*
 * A snapshot with all names, and all that it points to: one reference, the caller's. `file` may end
 * in @TIME, which is a moment as --at has it, instead of that of the options. A segment and a
 * report have only their end and the peak. NULL after one line on stderr.
 */
struct snapshot *load_open(const char *file, const struct options *o);

#endif
