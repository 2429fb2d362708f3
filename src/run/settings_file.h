/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings file: $XDG_CONFIG_HOME/heaptop/config, or ~/.config/heaptop/config. An error in it
 * is reported in one line and never keeps heaptop from running. Main thread.
 */
#ifndef SRC_RUN_SETTINGS_FILE_H
#define SRC_RUN_SETTINGS_FILE_H

#include "src/model/settings.h"

/*
 * Fills in defaults, then the file's settings. Adds a line "PATH:12: what" to `troubles` for each
 * error.
 */
void settings_file_load(struct settings *s, struct strbuf *troubles);
/*
 * Rewrites the file atomically; unknown lines and sections are kept. If something in it would be
 * lost, nothing is written: -EBUSY. 0 or -errno, and the outcome as a line in `msg`.
 */
int settings_file_save(const struct settings *s, char *msg, size_t cap);

#endif
