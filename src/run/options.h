/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line. Main thread, once, before anything else. Pure but for the two streams it is
 * given: it opens nothing and looks at nothing but its arguments.
 */
#ifndef SRC_RUN_OPTIONS_H
#define SRC_RUN_OPTIONS_H

#include <stdio.h>
#include "src/run/option_types.h"

#define OPTIONS_EXIT_USAGE 2

/*
 * Fills `o` from the command line. Returns -1 when the caller is to go on, or the exit status to
 * end with: 0 after --help, --version and "-s help" (written to `out`), OPTIONS_EXIT_USAGE after a
 * mistake (one line on `err`). Uses getopt_long's globals; may be called again.
 */
int options_parse(int argc, char *const argv[], struct options *o, FILE *out, FILE *err);

/* Whether an option of this long name was on the command line. */
bool options_given(const struct options *o, const char *name);

#endif
