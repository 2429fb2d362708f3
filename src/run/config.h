/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings file: $XDG_CONFIG_HOME/heaptop/config, or ~/.config/heaptop/config. An error in it
 * is reported in one line and never keeps heaptop from running. Main thread.
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

/* The steps of config_take. */
/*
 * Fills in defaults, then the file's settings. Adds a line "PATH:12: what" to `troubles` for each
 * error.
 */
void config_load(struct settings *s, struct strbuf *troubles);
/*
 * Rewrites the file atomically; unknown lines are kept. If something in it would be lost, nothing
 * is written: -EBUSY. 0 or -errno, and the outcome as a line in `msg`.
 */
int config_save(const struct settings *s, char *msg, size_t cap);
/* Applies the settings to the options that the command line did not give, and the given options to
 * the settings. Options point to rules in `s`. */
void config_apply(struct settings *s, struct options *o);

#endif
