/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --help and "help" as a value print. Main thread. */
#ifndef SRC_RUN_OPTION_HELP_H
#define SRC_RUN_OPTION_HELP_H

#include <stdio.h>
#include "src/run/option_values.h"

/* --help, and the word behind it: "all", a group ("leaks"), an option ("record"), or anything else,
 * or NULL, for a summary. */
void option_help_print(const char *word, FILE *out);
/* "-s help": the columns. */
void option_help_columns(FILE *out);
/* "help" as a value: the choices of an option. */
void option_help_words(const struct option_words *w, FILE *out);

#endif
