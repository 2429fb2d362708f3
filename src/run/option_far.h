/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options about programs on other machines: functions for option_table, each like
 * option_values_set. */
#ifndef SRC_RUN_OPTION_FAR_H
#define SRC_RUN_OPTION_FAR_H

#include "src/run/option_values.h"

int option_far_via(struct options *o, const char *value, struct option_error *why);
int option_far_serve(struct options *o, const char *value, struct option_error *why);
int option_far_agent(struct options *o, const char *value, struct option_error *why);
int option_far_token_file(struct options *o, const char *value, struct option_error *why);
int option_far_sysroot(struct options *o, const char *value, struct option_error *why);
int option_far_binpath(struct options *o, const char *value, struct option_error *why);
int option_far_user(struct options *o, const char *value, struct option_error *why);

/*
 * A word that is no option: ssh://HOST/PROCESS, unix:PATH or tcp://HOST:PORT, or with --serve the
 * process. 1: taken; 0: it is none of them; -EINVAL.
 */
int option_far_word(struct options *o, const char *word, struct option_error *why);
/* After all options. What is wrong, or NULL. */
const char *option_far_finish(struct options *o);

#endif
