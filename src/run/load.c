/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One moment of a program, from a file (load.h). Main thread. */
#include "src/run/load.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "src/model/moment.h"
#include "src/record/json_report.h"
#include "src/run/at_time.h"
#include "src/run/core_target.h"
#include "src/run/event_command.h"
#include "src/run/failure.h"
#include "src/run/file_kind.h"
#include "src/run/replay.h"
#include "src/session/session.h"

#define NAMES_TIMEOUT_NS UINT64_C(60000000000) /* as a report waits for names */

static struct snapshot *segment_load(
	const char *path, const struct options *o, const struct liveness_core *core)
{
	const struct session_options options = {
		.debuginfod = o->debuginfod, .may_be_copy = true, .core = core
	};
	char message[READ_MESSAGE_MAX];
	struct session *session = session_open(path, &options, message);
	struct snapshot *s;

	if (!session) {
		failure_print(message);
		return NULL;
	}
	snapshot_unref(session_tick(session));
	session_names_finish(session, NAMES_TIMEOUT_NS);
	s = session_tick(session);
	if (!s)
		failure_print_errno("cannot read the segment", errno);
	session_close(session);
	return s;
}

static struct snapshot *core_load(const char *path, const struct options *o)
{
	struct options of = *o;
	struct snapshot *s = NULL;

	of.file = path;
	of.account = NULL;
	of.core = NULL;
	if (core_target_open(&of) != 0)
		return NULL;
	s = segment_load(core_target_path(&of), o, core_target_session(&of));
	core_target_close(&of);
	return s;
}

static struct snapshot *report_load(const char *path)
{
	char message[JSON_REPORT_MESSAGE_MAX];
	struct snapshot *s = json_report_open(path, message);

	if (!s)
		failure_print(message);
	return s;
}

static struct snapshot *range_refuse(const char *file)
{
	failure_print_reason(file, "a range of time is not one moment");
	return NULL;
}

static struct snapshot *recording_load(const char *path, const char *at, const char *file)
{
	struct replay *r = replay_open(path);
	struct snapshot *s = NULL;
	struct moment m;

	if (!r)
		return NULL;
	if (replay_at(r, replay_program(r), at, &m) != 0) {
		replay_free(r);
		return NULL;
	}
	if (m.kind == SNAP_RANGE) {
		replay_free(r);
		return range_refuse(file);
	}
	s = replay_moment(r, replay_program(r), &m);
	if (!s)
		failure_print_errno("cannot read that moment of the recording", errno);
	replay_free(r);
	return s;
}

/* What a file without a past has at that moment. Drops `s`. */
static struct snapshot *still_moment(struct snapshot *s, const char *at, const char *file)
{
	char message[AT_TIME_MESSAGE_MAX];
	struct snapshot *peak;
	struct moment m;

	if (!s || !at)
		return s;
	if (at_time_find(at, s, NULL, &m, message) != 0) {
		failure_print_reason(file, message);
		snapshot_unref(s);
		return NULL;
	}
	if (m.kind == SNAP_NOW)
		return s;
	peak = m.kind == SNAP_PEAK ? moment_peak_of_file(s) : NULL;
	if (m.kind != SNAP_PEAK)
		failure_print_reason(file, "only a recording has other moments than peak and end");
	else if (!peak)
		failure_print_errno("cannot show the peak", errno);
	snapshot_unref(s);
	return peak;
}

/* FILE@TIME: cuts the path off, and returns the time; NULL if it is a file as it stands. */
static const char *time_cut(const char *file, char path[PATH_MAX])
{
	const char *at = strrchr(file, '@');

	/* Not snprintf: with a sanitizer, gcc 12 warns that the file may be NULL. */
	*path = '\0';
	strncat(path, file, PATH_MAX - 1);
	if (!at || access(file, F_OK) == 0 || at - file >= PATH_MAX || at_time_check(at + 1) != 0)
		return NULL;
	path[at - file] = '\0';
	return at + 1;
}

/* FILE@WHAT, where only FILE is there: WHAT was meant as a time. */
static bool time_wrong(const char *path)
{
	const char *at = strrchr(path, '@');
	char *before;
	bool wrong;

	if (!at || at == path || access(path, F_OK) == 0)
		return false;
	before = strndup(path, (size_t)(at - path));
	wrong = before && access(before, F_OK) == 0;
	free(before);
	return wrong;
}

struct snapshot *load_open(const char *file, const struct options *o)
{
	char path[PATH_MAX];
	const char *at = time_cut(file, path);

	if (time_wrong(path)) {
		failure_print_reason(file, "what follows @ " AT_TIME_WORDS " or end");
		return NULL;
	}
	at = at ? at : o->at;
	switch (file_kind_of(path)) {
	case FILE_KIND_RECORDING:
		return recording_load(path, at, file);
	case FILE_KIND_EVENTS:
		return event_command_load(path, at);
	case FILE_KIND_REPORT:
		return still_moment(report_load(path), at, file);
	case FILE_KIND_CORE:
		return still_moment(core_load(path, o), at, file);
	case FILE_KIND_SEGMENT:
		break;
	}
	return still_moment(segment_load(path, o, NULL), at, file);
}
