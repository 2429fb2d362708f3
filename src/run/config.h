/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of settings: $XDG_CONFIG_HOME/heaptop/config, or ~/.config/heaptop/config. Whatever is
 * wrong with it is a line of words and no reason not to run. Main thread.
 */
#ifndef SRC_RUN_CONFIG_H
#define SRC_RUN_CONFIG_H

#include "src/model/settings.h"
#include "src/run/options.h"

/* What a run goes by. */
struct config {
	struct settings settings;
	char trouble[256]; /* the first line of what is wrong with the file; "" */
};

/*
 * Takes the settings, unless `o` says not to, into `o` where the command line did not say
 * otherwise. Without a screen, what is wrong with the file goes to stderr.
 */
void config_take(struct config *c, struct options *o);
/* The user's rules of naming hold, for names from now on. */
void config_rules(const struct settings *s);

/* The parts. */
/*
 * Defaults, then what the file says. For each thing that is wrong a line, "PATH:12: what", is put
 * into `troubles`.
 */
void config_load(struct settings *s, struct strbuf *troubles);
/*
 * Writes the file anew, all or nothing; lines of it that are not known are kept. Where something in
 * it would be lost nothing is written: -EBUSY. 0 or -errno, and a line that says what came of it.
 */
int config_save(const struct settings *s, char *msg, size_t cap);
/* The settings as options, where the command line did not say otherwise; and what it said. */
void config_apply(struct settings *s, struct options *o);

#endif
