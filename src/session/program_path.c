/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The name by which a program was started (program_path.h). Main thread. */
#include "src/session/program_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

/* Takes over `path`. */
static char *another_name(const char *exe, char *path)
{
	if (path && *last_part(path) && strcmp(last_part(path), last_part(exe)) != 0 &&
		is_same_file(exe, path))
		return path;
	free(path);
	return NULL;
}

static char *in_folder_of(const char *exe, const char *name)
{
	char *path;

	if (asprintf(&path, "%.*s%s", (int)(last_part(exe) - exe), exe, name) < 0)
		return NULL;
	return path;
}

static char *path_named(const char *exe, const char *argv0)
{
	char *path = argv0[0] == '/' ? another_name(exe, strdup(argv0)) : NULL;

	return path ? path : another_name(exe, in_folder_of(exe, last_part(argv0)));
}

char *program_path_started(const char *exe, const char *argv0)
{
	size_t title = strcspn(argv0, " :");
	char *path = exe[0] == '/' ? path_named(exe, argv0) : NULL, *name;

	if (path || exe[0] != '/' || !argv0[title])
		return path;
	name = strndup(argv0, title);
	path = name ? path_named(exe, name) : NULL;
	free(name);
	return path;
}
