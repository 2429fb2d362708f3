/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --record (recorder.h). Main thread. */
#include "src/run/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/record/recording.h"
#include "src/run/failure.h"
#include "src/util/clock.h"
#include "src/util/units.h"

#define STREAMS_MAX                                                                                \
	(PROCESS_TREE_MEMBERS_MAX + 2u) /* the members, the current image, the one before */
/* Refreshes that an ended image waits for its names: other images' names may come first. */
#define NAMES_TICKS 60u

/* An image in the file. Its newest snapshot keeps the owner alive, so that no other image gets the
 * owner's address. */
struct stream {
	struct snapshot *last;
	bool begun; /* in the file */
	bool final; /* the image is gone: there are no more ticks */
	bool ended; /* its end is in the file, */
	unsigned waited; /* which waited for names for this number of ticks */
	unsigned ticks;
	bool seen; /* the tree has the image */
	bool left_out; /* the file has no room for it */
};

struct recorder {
	struct recording_writer *writer; /* NULL: closed */
	const char *path;
	struct stream stream[STREAMS_MAX];
	size_t streams;
	size_t images, left_out; /* in the file, and those for which it had no room */
	uint64_t last_ns; /* uptime of the newest image in its last tick */
	uint64_t from_ns, to_ns; /* clock_monotonic_ns at the first and the last tick: an uptime
				    begins anew with exec */
	const struct session *leaks_of;
	const struct snap_leaks *leaks;
	char trouble[RECORDING_MESSAGE_MAX];
};

struct recorder *recorder_open(const struct options *o)
{
	struct recording_options w = { .limit_bytes = o->record_limit,
		.hourly_bytes = o->record_rate,
		.version = HEAPTOP_VERSION };
	char message[RECORDING_MESSAGE_MAX];
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r) {
		failure_print_errno("cannot record", -ENOMEM);
		return NULL;
	}
	r->path = o->record;
	r->writer = recording_create(o->record, &w, message);
	if (r->writer)
		return r;
	failure_print(message);
	free(r);
	return NULL;
}

/* ---- streams ------------------------------------------------------------------------------ */

static void trouble_note(struct recorder *r, int rc)
{
	char at[UNITS_MAX];

	if (rc == 0 || r->trouble[0])
		return;
	snprintf(r->trouble, sizeof(r->trouble), "the recording %.160s ends at %s: %s", r->path,
		units_duration(at, r->last_ns), strerror(-rc));
}

static struct stream *stream_of(struct recorder *r, const void *owner)
{
	for (size_t i = 0; i < r->streams; i++)
		if (r->stream[i].last->owner == owner)
			return &r->stream[i];
	return NULL;
}

static void stream_drop(struct recorder *r, struct stream *s)
{
	snapshot_unref(s->last);
	*s = r->stream[--r->streams];
}

static void streams_free(struct recorder *r)
{
	while (r->streams > 0)
		stream_drop(r, &r->stream[r->streams - 1]);
}

/* Notes the newest snapshot of an image. NULL: there is no room for one more. */
static struct stream *stream_note(struct recorder *r, struct snapshot *now)
{
	struct stream *s = stream_of(r, now->owner);

	if (!s && r->streams == STREAMS_MAX)
		return NULL;
	if (!s) {
		s = &r->stream[r->streams++];
		*s = (struct stream){ 0 };
	}
	snapshot_ref(now);
	snapshot_unref(s->last);
	s->last = now;
	return s;
}

/* Whether the file has no room for this image. */
static bool stream_leave_out(struct recorder *r, struct stream *s)
{
	if (s->begun || !recording_is_full(r->writer))
		return false;
	r->left_out += !s->left_out;
	s->left_out = true;
	s->ended = s->final;
	return true;
}

static void stream_write(struct recorder *r, struct stream *s)
{
	struct snapshot with = *s->last;

	if (r->trouble[0] || stream_leave_out(r, s))
		return;
	if (r->leaks && (const void *)r->leaks_of == with.owner)
		with.leaks = r->leaks;
	r->images += !s->begun;
	s->begun = true;
	trouble_note(r, recording_add(r->writer, &with));
}

static void stream_end(struct recorder *r, struct stream *s)
{
	if (s->begun && !s->ended && !r->trouble[0])
		trouble_note(r, recording_end(r->writer, s->last));
	s->ended = true;
}

/* ---- ticks -------------------------------------------------------------------------------- */

/* What members are visited for: a tick, or the end of the recording. */
struct visit {
	struct recorder *recorder;
	bool closing;
	uint64_t deadline_ns; /* for names */
	int32_t pid; /* the launched process's, */
	bool children; /* and whether to visit its earlier images, or the other processes */
};

/* The stream's end, once its names are known, or were waited for long enough. */
static void member_end(const struct visit *v, struct stream *s, struct session *m)
{
	if (v->closing || s->ended)
		return;
	if (session_names_finish(m, 0) == 0 || s->waited++ > NAMES_TICKS)
		stream_end(v->recorder, s);
}

/* Until the library has reported, command and executable may still be the launcher's. */
static bool has_begun(const struct snapshot *now)
{
	return now && now->state != SNAP_STARTING;
}

/*
 * A child that has just forked may only be about to call exec, and its image before that is worth
 * nothing: it is written with its second tick, or when it has ended. One that seems killed may have
 * called exec and ended since the tree was polled: the next poll tells.
 */
static bool is_worth_writing(const struct visit *v, struct stream *s)
{
	return s->ticks++ > 0 || v->closing || (s->final && s->last->state == SNAP_EXITED) ||
	       (!s->last->forked && has_begun(s->last));
}

/* The scan of a process at its end may become known after its last tick. */
static void scan_take(const struct visit *v, const struct stream *s, struct session *m)
{
	struct snapshot *now = s->ended ? NULL : session_tick(m);

	if (now && now->leaks != s->last->leaks)
		stream_note(v->recorder, now);
	snapshot_unref(now);
}

static void member_write(void *ctx, struct session *m)
{
	const struct visit *v = ctx;
	struct stream *s = stream_of(v->recorder, m);
	struct snapshot *now = NULL;

	if (v->children != (session_identity(m)->pid != v->pid))
		return;
	if (s && s->final && s->begun) {
		scan_take(v, s, m);
		member_end(v, s, m);
		return;
	}
	now = session_tick(m);
	s = now ? stream_note(v->recorder, now) : NULL;
	snapshot_unref(now);
	if (!s)
		return;
	s->final = !session_alive(m);
	if (!is_worth_writing(v, s))
		return;
	stream_write(v->recorder, s);
	if (s->final)
		member_end(v, s, m);
}

static bool is_written(void *ctx, struct session *m)
{
	struct stream *s = stream_of(ctx, m);

	return s && s->ended;
}

static void stream_see(void *ctx, struct session *m)
{
	struct stream *s = stream_of(ctx, m);

	if (s)
		s->seen = true;
}

/* Ends the streams of images that the tree has dropped: before others are noted, so that each of
 * those has room. */
static void streams_sweep(struct recorder *r, struct process_tree *w)
{
	for (size_t i = 0; i < r->streams; i++)
		r->stream[i].seen = false;
	process_tree_members(w, stream_see, r);
	stream_see(r, process_tree_session(w));
	for (size_t i = r->streams; i-- > 0;) {
		struct stream *s = &r->stream[i];

		if (s->seen)
			continue;
		stream_end(r, s);
		stream_drop(r, s);
	}
}

static void main_write(struct recorder *r, struct snapshot *now)
{
	struct stream *s = stream_note(r, now);
	uint64_t at_ns = clock_monotonic_ns();

	if (r->from_ns == 0)
		r->from_ns = r->to_ns = at_ns;
	if (!s)
		return;
	stream_write(r, s);
	if (!r->trouble[0]) {
		r->last_ns = now->uptime_ns;
		r->to_ns = at_ns;
	}
}

/* The first image in a file is what was launched, and a process's newest one is its last in the
 * file. */
static void all_write(
	struct recorder *r, struct process_tree *w, struct snapshot *now, struct visit *v)
{
	v->pid = session_identity(process_tree_session(w))->pid;
	process_tree_members(w, member_write, v);
	if (v->closing ? now != NULL : has_begun(now))
		main_write(r, now);
	v->children = true;
	if (r->images > 0)
		process_tree_members(w, member_write, v);
}

void recorder_tick(struct recorder *r, struct process_tree *w, struct snapshot *now)
{
	struct visit v = { .recorder = r };

	if (r->trouble[0]) {
		streams_free(r);
		return;
	}
	streams_sweep(r, w);
	all_write(r, w, now, &v);
	process_tree_release(w, is_written, r);
}

void recorder_leaks(struct recorder *r, const struct session *of, const struct snap_leaks *leaks)
{
	r->leaks_of = of;
	r->leaks = leaks;
}

void recorder_fill(const struct recorder *r, struct timeline *t)
{
	recording_fill(r->writer, t);
	if (r->trouble[0])
		t->trouble = r->trouble;
}

const char *recorder_trouble(const struct recorder *r)
{
	return r->trouble[0] ? r->trouble : NULL;
}

/* ---- the end ------------------------------------------------------------------------------ */

static uint64_t time_left(uint64_t deadline_ns)
{
	uint64_t now = clock_monotonic_ns();

	return now < deadline_ns ? deadline_ns - now : 0;
}

static void names_await(void *ctx, struct session *m)
{
	const struct visit *v = ctx;

	session_names_finish(m, time_left(v->deadline_ns));
}

static void last_ticks_write(struct recorder *r, struct process_tree *w, uint64_t names_timeout_ns)
{
	struct visit v = { .recorder = r,
		.closing = true,
		.deadline_ns = clock_monotonic_ns() + names_timeout_ns };
	struct snapshot *now;

	process_tree_poll_last(w);
	process_tree_left_out_notice(w);
	streams_sweep(r, w);
	now = session_tick(process_tree_session(w));
	all_write(r, w, now, &v);
	snapshot_unref(now);
	process_tree_members(w, names_await, &v);
	names_await(&v, process_tree_session(w));
	for (size_t i = 0; i < r->streams; i++)
		stream_end(r, &r->stream[i]);
}

static void result_print(const struct recorder *r, size_t left_out, uint64_t ticks_left_out)
{
	char size[UNITS_MAX], span[UNITS_MAX], more[80] = "", thin[80] = "";
	struct stat st = { 0 };

	if (r->trouble[0])
		fprintf(stderr, "heaptop: %s\n", r->trouble);
	if (stat(r->path, &st) != 0 || r->images == 0)
		return;
	if (left_out)
		snprintf(more, sizeof(more), " of %zu process images (%zu more left out)",
			r->images, left_out);
	else if (r->images > 1)
		snprintf(more, sizeof(more), " of %zu process images", r->images);
	if (ticks_left_out)
		snprintf(thin, sizeof(thin), " (--record-rate left out %" PRIu64 " refreshes)",
			ticks_left_out);
	fprintf(stderr, "heaptop: recorded %s%s in %s, %s%s; to see it: heaptop -r %s\n",
		units_duration(span, r->to_ns - r->from_ns), more, r->path,
		units_bytes(size, (uint64_t)st.st_size), thin, r->path);
}

void recorder_close(struct recorder *r, struct process_tree *w, uint64_t names_timeout_ns)
{
	uint64_t ticks_left_out;

	if (!r)
		return;
	if (w)
		last_ticks_write(r, w, names_timeout_ns);
	streams_free(r);
	ticks_left_out = recording_left_out(r->writer);
	trouble_note(r, recording_close(r->writer));
	result_print(r, r->left_out + (w ? process_tree_left_out(w) : 0), ticks_left_out);
	free(r);
}

void recorder_discard(struct recorder *r)
{
	if (!r)
		return;
	streams_free(r);
	recording_close(r->writer);
	unlink(r->path);
	free(r);
}
