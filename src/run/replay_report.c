/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r RECORDING with a report (replay_report.h). Main thread. */
#include "src/run/replay_report.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/replay.h"
#include "src/run/report.h"
#include "src/run/verdict.h"

/* The other images that had begun by the moment `m` of the program, as of then. */
struct others {
	struct snapshot **snapshot;
	size_t count;
};

static int others_take(struct others *c, struct replay *r, const struct moment *m)
{
	size_t program = replay_program(r);
	struct moment then;

	c->snapshot = calloc(replay_images(r), sizeof(struct snapshot *));
	if (!c->snapshot)
		return -ENOMEM;
	for (size_t i = 0; i < replay_images(r); i++) {
		if (i == program || !replay_moment_of(r, i, program, m, &then))
			continue;
		c->snapshot[c->count] = replay_moment(r, i, &then);
		c->count += c->snapshot[c->count] != NULL;
	}
	return 0;
}

static void others_free(struct others *c)
{
	for (size_t i = 0; i < c->count; i++)
		snapshot_unref(c->snapshot[i]);
	free(c->snapshot);
}

static int put(int fd, const struct snapshot *s, const struct others *c, const struct options *o,
	const struct timeline *t)
{
	char verdict[VERDICT_MAX];
	struct report_parts parts = { .timeline = t };
	struct snapshot whole = *s;
	int rc;

	whole.children = (const struct snapshot *const *)c->snapshot;
	whole.nchildren = c->count;
	parts.verdict = verdict_text(&whole, o, true, verdict);
	rc = o->batch && !o->format_given ? report_frame_put(fd, &whole, o)
					  : report_put(fd, &whole, o, &parts);
	return rc ? rc : verdict_exit(&whole, o);
}

static int moment_put(int fd, struct replay *r, const struct moment *m, const struct options *o)
{
	struct snapshot *s = replay_moment(r, replay_program(r), m);
	struct others c = { 0 };
	int rc;

	if (!s)
		return failure_print_errno("cannot read that moment of the recording", errno);
	rc = others_take(&c, r, m);
	rc = rc ? failure_print_errno("cannot read the recording", rc)
		: put(fd, s, &c, o, replay_timeline(r, replay_program(r)));
	others_free(&c);
	snapshot_unref(s);
	return rc;
}

int replay_report_run(const struct options *o)
{
	struct replay *r = replay_open(o->file);
	struct moment m;
	int fd, rc;

	if (!r)
		return FAILURE_EXIT;
	rc = replay_at(r, replay_program(r), o->at, &m);
	fd = rc == 0 ? output_file_open(o, STDOUT_FILENO) : -1;
	if (rc == 0)
		rc = fd < 0 ? FAILURE_EXIT : moment_put(fd, r, &m, o);
	replay_free(r);
	return rc;
}
