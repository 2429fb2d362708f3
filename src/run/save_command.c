/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --save FILE -a PID (save_command.h). */
#include "src/run/save_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/leak/save.h"
#include "src/run/failure.h"
#include "src/run/run.h"
#include "src/util/units.h"

static void saved_print(const struct options *o, const struct leak_saved *saved)
{
	char bytes[UNITS_MAX], stop[UNITS_MAX], unread[UNITS_MAX];

	printf("saved %s: %s of memory and holes, the program was stopped for %s\n", o->save,
		units_bytes(bytes, saved->bytes), units_duration(stop, saved->access.stop_ns));
	if (saved->access.no_copy[0])
		printf("the program was stopped until the file was complete: %s\n",
			saved->access.no_copy);
	if (saved->unread_bytes > 0)
		printf("%s could not be read\n", units_bytes(unread, saved->unread_bytes));
}

static int save(struct run *r, int fd, const struct options *o)
{
	struct session *s = run_session(r);
	char message[TRACE_MESSAGE_MAX];
	struct leak_saved saved;

	if (leak_save(session_segment(s), session_pid(s), fd, &saved, message) != 0)
		return failure_print(message);
	saved_print(o, &saved);
	return 0;
}

int save_command_run(const struct options *o)
{
	struct run *r;
	int fd, rc = run_open(&r, o, NULL), closed;

	if (rc != 0)
		return rc;
	/* A new file: it has the program's secrets, and is read by its owner alone. */
	fd = open(o->save, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		rc = failure_print_errno(o->save, errno);
	} else {
		rc = save(r, fd, o);
		if (close(fd) != 0 && rc == 0)
			rc = failure_print_errno(o->save, errno);
		if (rc != 0)
			unlink(o->save);
	}
	closed = run_close(r);
	return rc ? rc : closed;
}
