/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -a PID --trace SITE (trace_command.h). */
#include "src/run/trace_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "src/run/event_tail.h"
#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/signals.h"
#include "src/target/target.h"

#define POLL_NS 20000000 /* a ring holds 16,384 events: 800,000 a second are read without a gap */

static void line_print(struct strbuf *out, const struct event_line *l)
{
	char freed[48] = "live";

	if (l->freed)
		snprintf(freed, sizeof(freed), "freed after %.6f s",
			(double)l->freed_after_ns / 1e9);
	strbuf_printf(out, "%14.6f  %7" PRIu32 "  0x%012" PRIx64 "  %10" PRIu64 "  %s\n",
		(double)l->ns / 1e9, l->tid, l->addr, l->size, freed);
}

/* Lines that are new, in order; a block that is freed between two readings is one line. */
static int lines_put(const struct event_tail *t, uint64_t *after, int fd, const struct options *o)
{
	const struct event_line *lines;
	size_t count = event_tail_lines(t, &lines);
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < count; i++)
		if (lines[i].number > *after)
			line_print(&out, &lines[i]);
	if (count > 0)
		*after = lines[count - 1].number;
	return output_file_put(fd, &out, o);
}

static int follow(struct event_tail *t, int fd, const struct options *o)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t after = 0;
	bool alive = true;
	int rc = 0;

	while (rc == 0 && alive && !signals_pending()) {
		alive = kill(o->pid, 0) == 0 || errno != ESRCH;
		nanosleep(&pause, NULL);
		rc = event_tail_update(t);
		if (rc >= 0)
			rc = lines_put(t, &after, fd, o);
	}
	if (event_tail_missed(t) > 0)
		fprintf(stderr,
			"heaptop: %" PRIu64
			" events were missed, some of them perhaps at this call site\n",
			event_tail_missed(t));
	return rc;
}

int trace_command_run(const struct options *o)
{
	char message[TARGET_MESSAGE_MAX];
	struct target_segment found;
	struct event_tail *t;
	int fd, rc;

	if (target_find(o->pid, &found, message) != 0)
		return failure_print(message);
	fd = output_file_open(o, STDOUT_FILENO);
	if (fd < 0)
		return FAILURE_EXIT;
	t = event_tail_open(found.path, (uint32_t)o->trace_site, message);
	if (!t)
		return failure_print(message);
	signals_catch(false, NULL);
	rc = follow(t, fd, o);
	event_tail_close(t);
	return rc < 0 ? failure_print_errno("cannot follow events", rc) : 0;
}
