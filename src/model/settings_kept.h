/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of the settings file that are kept as they are, for others to read: those of newer
 * versions, and the sections behind the settings. Pure; any thread.
 */
#ifndef SRC_MODEL_SETTINGS_KEPT_H
#define SRC_MODEL_SETTINGS_KEPT_H

#define SETTINGS_KEPT_MAX     4096u
#define SETTINGS_PROFILES_MAX 4096u

/* Both return the error in the line, or NULL. */
/* Adds "key = value" to the unknown lines. */
const char *settings_kept_line(char kept[SETTINGS_KEPT_MAX], const char *key, const char *value);
/* Adds a line of a section, or the one that begins it. */
const char *settings_kept_section(char sections[SETTINGS_PROFILES_MAX], const char *line);

#endif
