/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of --suppressions (suppression_files.h). Main thread. */
#include "src/run/suppression_files.h"

#include <errno.h>

#include "src/run/failure.h"

int suppression_files_load(const struct options *o, struct suppressions **out)
{
	char message[SUPPRESSIONS_MESSAGE_MAX];

	if (o->nsuppressions == 0)
		return 0;
	*out = suppressions_new();
	if (!*out)
		return failure_print_errno("cannot load suppressions", -ENOMEM);
	for (unsigned i = 0; i < o->nsuppressions; i++)
		if (suppressions_load(*out, o->suppressions[i], message) != 0)
			return failure_print(message);
	return 0;
}
