/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment (environment.h). At start, on the thread that starts. */
#include "preload/environment.h"

#include <stddef.h>
#include <string.h>

extern char **environ;

static const struct ht_attached *given;

void environment_give(const struct ht_attached *a)
{
	given = a;
}

bool environment_is_given(void)
{
	return given != NULL;
}

static const char *given_variable(const char *name)
{
	const char *value = NULL;

	if (strcmp(name, "HEAPTOP_SEGMENT") == 0)
		value = given->segment;
	else if (strcmp(name, "HEAPTOP_ALLOCATORS") == 0)
		value = given->allocators;
	else if (strcmp(name, "HEAPTOP_FOLLOW") == 0 && !given->follow)
		value = "0";
	else if (strcmp(name, "HEAPTOP_FREES") == 0 && given->free_stacks)
		value = "1";
	return value && value[0] ? value : NULL;
}

bool environment_is_ready(void)
{
	return environ != NULL;
}

const char *environment_variable(const char *name)
{
	size_t length = strlen(name);

	if (given)
		return given_variable(name);
	for (char **e = environ; e && *e; e++)
		if (**e == *name && strncmp(*e, name, length) == 0 && (*e)[length] == '=')
			return (*e)[length + 1] ? *e + length + 1 : NULL;
	return NULL;
}
