/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library with thread-local memory that must lie at a fixed distance from the thread's own: there
 * is little of it for what comes after the start. */
#include <stdlib.h>

#define BYTES 128

static __thread char fixed[BYTES] __attribute__((tls_model("initial-exec"), aligned(64)));

void *plugin_run(void);
void *plugin_run(void)
{
	fixed[BYTES - 1] = 1;
	return malloc(fixed[BYTES - 1]);
}
