/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The directories for segments (place.h). The viewer's main thread, and the library's start. */
#include "shm/directories.h"

unsigned place_list(place_variable *variable, const char *place[PLACE_MAX])
{
	const char *given = variable("HEAPTOP_DIR"), *runtime = variable("XDG_RUNTIME_DIR");
	unsigned n = 0;

	place[n++] = given ? given : "/dev/shm";
	if (!given && runtime)
		place[n++] = runtime;
	return n;
}

int place_try(place_variable *variable, int (*make)(void *ctx, const char *directory), void *ctx)
{
	const char *place[PLACE_MAX];
	unsigned count = place_list(variable, place);
	int rc = -1;

	for (unsigned i = 0; i < count && rc != 0; i++)
		rc = make(ctx, place[i]);
	return rc;
}
