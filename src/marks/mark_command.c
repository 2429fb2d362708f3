/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --mark (mark_command.h). */
#include "src/marks/mark_command.h"

#include <errno.h>
#include <stdio.h>

#include "src/marks/marks.h"
#include "src/target/target.h"
#include "src/util/units.h"

static_assert(MARK_COMMAND_LINE_MAX >= TARGET_MESSAGE_MAX &&
		      MARK_COMMAND_LINE_MAX >= MARKS_MESSAGE_MAX &&
		      MARK_COMMAND_LINE_MAX >= READ_MESSAGE_MAX,
	"any of their messages fits");

static int mark_segment(struct read_segment *segment, pid_t pid, const char *name, char *line)
{
	static struct read_identity id;
	struct marks_of of = { .segment = segment, .identity = &id, .pid = pid };
	struct marks marks = { .opened = false };
	char age[UNITS_MAX];
	int rc = read_identity(segment, &id);

	of.alive = rc == 0 && id.state == HT_STATE_RUNNING;
	rc = marks_take(&marks, &of, name, line);
	/* A mark that is not in a file would be lost with this process. */
	if (rc > 0 && *line)
		rc = -EIO;
	if (rc > 0)
		snprintf(line, MARK_COMMAND_LINE_MAX, "mark %d of process %d, at %s", rc, (int)pid,
			units_duration(age, marks.moments.last->ns));
	marks_free(&marks, false);
	return rc < 0 ? rc : 0;
}

int mark_command_run(pid_t pid, const char *name, char *line)
{
	static struct target_segment found;
	struct read_segment *segment;
	int rc = target_find(pid, &found, line);

	if (rc != 0)
		return rc;
	segment = read_open(found.path, line);
	if (!segment)
		return -EIO;
	rc = mark_segment(segment, pid, name, line);
	read_close(segment);
	return rc;
}

int mark_command_print(pid_t pid, const char *name)
{
	char line[MARK_COMMAND_LINE_MAX];
	int rc = mark_command_run(pid, name, line);

	if (rc != 0)
		fprintf(stderr, "heaptop: %s\n", line);
	else
		puts(line);
	return rc;
}
