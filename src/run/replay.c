/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording that is read (replay.h). Main thread. */
#include "src/run/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/moment.h"
#include "src/record/recording.h"
#include "src/run/at_time.h"
#include "src/run/failure.h"

struct image {
	struct snapshot *last;
	bool replaced;
};

struct replay {
	struct recording *recording;
	struct image *image;
	size_t images;
	size_t program;
};

/* A process's images follow each other; the first process is the program. */
static void images_relate(struct replay *r)
{
	for (size_t i = 0; i < r->images; i++)
		for (size_t k = i + 1; k < r->images && !r->image[i].replaced; k++)
			r->image[i].replaced = r->image[k].last->pid == r->image[i].last->pid;
	for (size_t i = 0; i < r->images; i++)
		if (r->image[i].last->pid == r->image[0].last->pid)
			r->program = i;
}

/* 0, -ENODATA, or what recording_last failed with. */
static int images_load(struct replay *r)
{
	size_t streams = recording_streams(r->recording);

	r->image = calloc(streams ? streams : 1, sizeof(*r->image));
	if (!r->image)
		return -ENOMEM;
	for (size_t i = 0; i < streams; i++) {
		struct snapshot *last = recording_last(r->recording, i);

		if (!last)
			return -errno;
		r->image[r->images++].last = last;
	}
	images_relate(r);
	return r->images ? 0 : -ENODATA;
}

struct replay *replay_open(const char *path)
{
	char message[RECORDING_MESSAGE_MAX];
	struct replay *r = calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		failure_print_errno("cannot open the recording", -ENOMEM);
		return NULL;
	}
	r->recording = recording_open(path, message);
	if (!r->recording) {
		failure_print(message);
		free(r);
		return NULL;
	}
	rc = images_load(r);
	if (rc == 0) {
		if (recording_notice(r->recording))
			failure_print_reason(path, recording_notice(r->recording));
		return r;
	}
	failure_print_reason(path, rc == -ENODATA   ? "nothing was recorded"
				   : rc == -EBADMSG ? "the recording is damaged"
						    : strerror(-rc));
	replay_free(r);
	return NULL;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->images; i++)
		snapshot_unref(r->image[i].last);
	recording_free(r->recording);
	free(r->image);
	free(r);
}

size_t replay_images(const struct replay *r)
{
	return r->images;
}

size_t replay_program(const struct replay *r)
{
	return r->program;
}

bool replay_is_replaced(const struct replay *r, size_t image)
{
	return r->image[image].replaced;
}

struct snapshot *replay_last(const struct replay *r, size_t image)
{
	return r->image[image].last;
}

const struct timeline *replay_timeline(const struct replay *r, size_t image)
{
	return history_timeline(recording_history(r->recording, image));
}

/* With the figures of the last refresh before it, where that is kept. */
static struct snapshot *peak_moment(struct replay *r, size_t image)
{
	struct snapshot *last = r->image[image].last, *then, *peak;
	const struct moment m = { .kind = SNAP_PAST, .ns = last->totals.peak_ns };
	const struct timeline *t = replay_timeline(r, image);

	if (!last->totals.has_at_peak || !t || t->npoints == 0 || m.ns < t->points[0].ns)
		return moment_peak_of_file(last);
	then = history_snapshot(recording_history(r->recording, image), last, &m);
	peak = then ? moment_peak_then(last, then) : NULL;
	snapshot_unref(then);
	return peak;
}

struct snapshot *replay_moment(struct replay *r, size_t image, const struct moment *m)
{
	struct snapshot *last = r->image[image].last;

	if (m->kind == SNAP_PEAK)
		return peak_moment(r, image);
	if (m->kind != SNAP_NOW)
		return history_snapshot(recording_history(r->recording, image), last, m);
	snapshot_ref(last);
	return last;
}

int replay_at(const struct replay *r, size_t image, const char *at, struct moment *out)
{
	char message[AT_TIME_MESSAGE_MAX], what[160];

	if (at_time_find(at ? at : "end", r->image[image].last, replay_timeline(r, image), out,
		    message) == 0)
		return 0;
	snprintf(what, sizeof(what), "--at %.120s", at);
	return failure_print_reason(what, message);
}

/* A time of one image in that of another, by the clock on the wall. False: before its start. */
static bool time_of(
	const struct snapshot *image, const struct snapshot *of, uint64_t ns, uint64_t *out)
{
	uint64_t wall = of->start_realtime_ns + ns;

	*out = wall - image->start_realtime_ns;
	return wall >= image->start_realtime_ns;
}

bool replay_moment_of(
	const struct replay *r, size_t image, size_t of, const struct moment *m, struct moment *out)
{
	const struct snapshot *from = r->image[of].last, *to = r->image[image].last;
	uint64_t ns = m->ns;

	*out = *m;
	if (image != of)
		out->mark = 0; /* each image has marks of its own */
	if (m->kind == SNAP_NOW)
		return true;
	if (m->kind == SNAP_PEAK)
		ns = from->totals.peak_ns;
	if (!time_of(to, from, ns, &out->ns))
		return false;
	if (m->kind == SNAP_PEAK)
		out->kind = SNAP_PAST;
	else if (m->kind == SNAP_RANGE && !time_of(to, from, m->from_ns, &out->from_ns))
		out->from_ns = 0;
	return true;
}
