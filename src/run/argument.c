/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -a and -r name (argument.h). Main thread. */
#include "src/run/argument.h"

#include <errno.h>

#include "src/read/read.h"
#include "src/run/failure.h"
#include "src/run/file_kind.h"
#include "src/target/target.h"

int argument_check(const struct options *o)
{
	char message[TARGET_MESSAGE_MAX > READ_MESSAGE_MAX ? TARGET_MESSAGE_MAX : READ_MESSAGE_MAX];
	static struct read_identity id; /* too large for the stack */
	struct target_segment found;

	if (o->mode == OPTIONS_READ && file_kind_of(o->file) == FILE_KIND_SEGMENT &&
		read_identity_of_file(o->file, &id, message) != 0)
		return failure_print(message);
	if (o->mode == OPTIONS_ATTACH && target_find_within(o->pid, 0, &found, message) == -ESRCH)
		return failure_print(message);
	return 0;
}
