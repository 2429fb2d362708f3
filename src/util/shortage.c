/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last resource that heaptop ran out of (shortage.h). */
#include "src/util/shortage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "src/util/error_hint.h"

#define LINE_MAX_BYTES 256

static atomic_int noted;

bool shortage_is(int error)
{
	error = abs(error);
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

void shortage_note(int error)
{
	if (shortage_is(error))
		noted = abs(error);
}

bool shortage_has_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	munmap(p, bytes);
	return true;
}

const char *shortage_line(void)
{
	static char line[LINE_MAX_BYTES];

	return noted ? error_hint_line(line, sizeof(line),
			       "names or call sites are missing: heaptop ran out of a resource",
			       noted)
		     : NULL;
}
