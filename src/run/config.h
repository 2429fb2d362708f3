/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings of a run: those of the settings file, where the command line gave no option. Main
 * thread.
 */
#ifndef SRC_RUN_CONFIG_H
#define SRC_RUN_CONFIG_H

#include "src/model/settings.h"
#include "src/run/options.h"

/* The settings of a run. */
struct config {
	struct settings settings;
	char trouble[256]; /* the first error of the file, or "" */
};

/*
 * Loads the settings, unless `o` says not to, and applies them to `o` where the command line gave
 * no option. Without a screen, prints errors in the file on stderr.
 */
void config_take(struct config *c, struct options *o);
/* Applies the user's naming rules to all names from now on. */
void config_rules(const struct settings *s);

/* The step of config_take that needs no file. */
/* Applies the settings to the options that the command line did not give, and the given options to
 * the settings. Options point to rules in `s`. */
void config_apply(struct settings *s, struct options *o);

#endif
