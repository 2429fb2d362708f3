/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named sets of options (--profile): built-in ones, and sections of the settings file. A profile is
 * a list of options as they are written on a command line; src/run/options.c applies them in front
 * of it. Main thread.
 */
#ifndef SRC_RUN_PROFILE_H
#define SRC_RUN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "src/model/settings.h"

#define PROFILE_OPTIONS_MAX 32u
#define PROFILE_NAME_MAX    32u

struct profile {
	struct profile_option {
		char *name; /* without dashes: "delay" */
		char *value; /* NULL: none */
	} option[PROFILE_OPTIONS_MAX];
	unsigned count;
	char text[SETTINGS_PROFILES_MAX]; /* what names and values point into */
};

/*
 * Finds the profile of that name: a section of the user's, or else a built-in one. Reads the
 * settings file unless `no_file`. 0, or -EINVAL with a line in `why`.
 */
int profile_find(const char *name, bool no_file, struct profile *out, char *why, size_t cap);
/* Whether an option of a profile gives way to `given`, an option of the command line that concerns
 * the same, but does not replace it by itself. */
bool profile_gives_way(
	const char *name, bool (*given)(const void *ctx, const char *option), const void *ctx);
/* The names with their options, a line each: those of the file and the built-in ones. */
void profile_list(FILE *out);

/* The step of profile_find that needs no file: in the text of sections (struct settings). -ENOENT:
 * there is no such section; -EINVAL as above. */
int profile_parse(
	const char *sections, const char *name, struct profile *out, char *why, size_t cap);

#endif
