/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parses the command line. Main thread, before anything else. Pure but for the two given streams:
 * it reads nothing but its arguments and, for --profile, the settings file.
 */
#ifndef SRC_RUN_OPTIONS_H
#define SRC_RUN_OPTIONS_H

#include <stdio.h>
#include "src/run/option_types.h"

#define OPTIONS_EXIT_USAGE 2

/*
 * Fills `o` from the command line. Returns -1 when the caller continues, or the exit status: 0
 * after --help, --version and "help" as a value (written to `out`), OPTIONS_EXIT_USAGE after an
 * error (one line on `err`). Options of --profile stand in front of all others, wherever it is;
 * their values are valid until the next call. Uses getopt_long's globals; may be called again.
 */
int options_parse(int argc, char *const argv[], struct options *o, FILE *out, FILE *err);

/* Whether the command line gave the option of this long name. */
bool options_given(const struct options *o, const char *name);

#endif
