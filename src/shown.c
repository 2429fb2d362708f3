/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the screen does to the process that it shows (shown.h). Main thread. */
#include "src/shown.h"

#include <errno.h>
#include <stdio.h>

#include "src/marks.h"

size_t shown_list(void *run, const struct process_row **rows, size_t *more)
{
	struct run *r = run;

	if (!r->processes)
		r->processes = processes_new(r->watch);
	return r->processes ? processes_list(r->processes, rows, more) : 0;
}

int shown_go(void *run, uint64_t process, char *msg, size_t cap)
{
	struct run *r = run;

	return r->processes ? processes_show(r->processes, process, msg, cap) : -ESRCH;
}

static struct session *session_now(void *run)
{
	return watch_session(run_shown(run));
}

int shown_mark(void *run, char *msg, size_t cap)
{
	char message[MARKS_MESSAGE_MAX];
	int rc = session_mark(session_now(run), NULL, message);

	snprintf(msg, cap, "%s", message);
	return rc;
}

void shown_mark_name(void *run, unsigned number, const char *name)
{
	marks_name(session_marks(session_now(run)), number, name);
}

void shown_since(void *run, unsigned since, unsigned until)
{
	marks_choose(session_marks(session_now(run)), since, until);
}
