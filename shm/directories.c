/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The directories for segments (directories.h). The viewer's main thread, and the library's start.
 */
#include "shm/directories.h"

unsigned directories_list(directories_variable *variable, const char *place[DIRECTORIES_MAX])
{
	const char *given = variable("HEAPTOP_DIR"), *runtime = variable("XDG_RUNTIME_DIR");
	unsigned n = 0;

	place[n++] = given ? given : "/dev/shm";
	if (!given && runtime)
		place[n++] = runtime;
	return n;
}

int directories_try(
	directories_variable *variable, int (*make)(void *ctx, const char *directory), void *ctx)
{
	const char *place[DIRECTORIES_MAX];
	unsigned count = directories_list(variable, place);
	int rc = -1;

	for (unsigned i = 0; i < count && rc != 0; i++)
		rc = make(ctx, place[i]);
	return rc;
}
