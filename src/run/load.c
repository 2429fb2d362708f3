/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One moment of a program, from a file (load.h). Main thread. */
#include "src/run/load.h"

#include <assert.h>
#include <errno.h>
#include "src/record/json_report.h"
#include "src/session/session.h"
#include "src/util/error_hint.h"

#define NAMES_TIMEOUT_NS UINT64_C(60000000000) /* as a report waits for names */

static_assert(LOAD_MESSAGE_MAX >= READ_MESSAGE_MAX, "a segment's message");
static_assert(LOAD_MESSAGE_MAX >= JSON_REPORT_MESSAGE_MAX, "a report's message");

static struct snapshot *segment_load(const char *path, const struct options *o, char *message)
{
	const struct session_options options = { .debuginfod = o->debuginfod, .may_be_copy = true };
	struct session *session = session_open(path, &options, message);
	struct snapshot *s;

	if (!session)
		return NULL;
	snapshot_unref(session_tick(session));
	session_names_finish(session, NAMES_TIMEOUT_NS);
	s = session_tick(session);
	if (!s)
		error_hint_line(message, LOAD_MESSAGE_MAX, "cannot read the segment", errno);
	session_close(session);
	return s;
}

struct snapshot *load_open(const char *path, const struct options *o, char *message)
{
	if (json_report_is(path))
		return json_report_open(path, message);
	return segment_load(path, o, message);
}
