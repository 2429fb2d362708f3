/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --detach (detach_command.h). Main thread. */
#include "src/run/detach_command.h"

#include <stdio.h>

#include "src/run/attachment.h"
#include "src/run/failure.h"

int detach_command_run(const struct options *o)
{
	char message[ATTACH_MESSAGE_MAX];
	int status = 0;

	for (unsigned i = 0; i < o->attach.count; i++) {
		int rc = attachment_detach_process(o->attach.pids[i], o, message, sizeof(message));

		if (rc == 0)
			printf("%s\n", message);
		else
			status = failure_print(message);
	}
	return status;
}
