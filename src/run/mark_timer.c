/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marks of --mark-every (mark_timer.h). Main thread. */
#include "src/run/mark_timer.h"

#include "src/marks/marks.h"
#include "src/util/clock.h"

void mark_timer_check(struct mark_timer *t, uint64_t every_ns, struct session *s)
{
	uint64_t now = clock_monotonic_ns();
	char message[MARKS_MESSAGE_MAX];

	if (!every_ns || now - t->marked_ns < every_ns)
		return;
	session_mark(s, NULL, message);
	/* Keeps the interval, however late this mark was. */
	t->marked_ns += (now - t->marked_ns) / every_ns * every_ns;
}
