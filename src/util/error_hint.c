/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remedies (error_hint.h). */
#include "src/util/error_hint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	int error;
	const char *remedy;
} table[] = {
	{ EMFILE, "raise the limit: ulimit -n" },
	{ ENFILE, "raise the system-wide limit: sysctl fs.file-max" },
	{ EAGAIN,
		"raise the limit on processes and threads: ulimit -u, or pids.max of the cgroup" },
	{ ENOMEM, "free memory, or raise the limit: ulimit -v, ulimit -d" },
	{ EFBIG, "raise the limit: ulimit -f" },
};

const char *remedy(int error)
{
	error = abs(error);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].error == error)
			return table[i].remedy;
	return NULL;
}

char *error_hint_line(char *out, size_t cap, const char *what, int error)
{
	const char *more = remedy(error);

	snprintf(out, cap, "%s: %s%s%s%s", what, strerror(abs(error)), more ? " (" : "",
		more ? more : "", more ? ")" : "");
	return out;
}
