/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment (environment.h). At start, on the thread that starts. */
#include "preload/environment.h"

#include <stddef.h>
#include <string.h>

extern char **environ;

bool environment_is_ready(void)
{
	return environ != NULL;
}

const char *environment_variable(const char *name)
{
	size_t length = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
			return (*e)[length + 1] ? *e + length + 1 : NULL;
	return NULL;
}
