/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Defines its own allocator, and prints how often that was called before main, and what dlerror
 * says there. */
#include "tests/faults/targets/calls.h"

#include <dlfcn.h>
#include "tests/faults/targets/witness.h"

int main(void)
{
	unsigned long before = calls_made();
	const char *error = dlerror();

	printf("%lu calls before main, %s\n", before, error ? error : "no error");
	free(witness_malloc(100));
	return 0;
}
