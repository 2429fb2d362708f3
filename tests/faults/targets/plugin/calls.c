/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * To be preloaded: an allocator that counts its calls, and a dlsym that finds nothing before the
 * program's main has begun, as one that waits for its own start.
 */
#include "tests/faults/targets/calls.h"

#include <dlfcn.h>

unsigned long calls_begun(void);

static int ready;

void *dlsym(void *handle, const char *name)
{
	return ready ? dlvsym(handle, name, "GLIBC_2.2.5") : NULL;
}

/* How many calls there were before main, which calls this first. */
unsigned long calls_begun(void)
{
	ready = 1;
	return calls;
}
