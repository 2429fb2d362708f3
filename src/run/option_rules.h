/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that exclude or require each other. Pure; any thread. */
#ifndef SRC_RUN_OPTION_RULES_H
#define SRC_RUN_OPTION_RULES_H

#include "src/run/option_types.h"

/* What is wrong with the options as a whole, static; NULL when all is well. */
const char *option_rules_broken(const struct options *o);

#endif
