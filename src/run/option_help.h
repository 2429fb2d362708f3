/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --help and "help" as a value print. Main thread. */
#ifndef SRC_RUN_OPTION_HELP_H
#define SRC_RUN_OPTION_HELP_H

#include <stdio.h>
#include "src/run/option_values.h"

/* --help. */
void option_help_print(FILE *out);
/* "-s help": the columns. */
void option_help_columns(FILE *out);
/* "help" as a value: the choices of an option. */
void option_help_words(const struct option_words *w, FILE *out);

#endif
