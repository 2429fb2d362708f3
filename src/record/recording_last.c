/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last tick of a stream as a snapshot (recording.h). It is derived from one without sites,
 * whose owner is the image. Main thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/record/recording_store.h"

/* The graph of the whole life, from the points: the most in each step. */
static void graph_fill(const struct timeline *t, struct snapshot *s)
{
	uint64_t end = t->points[t->npoints - 1].ns, step = end / SNAP_HISTORY_POINTS + 1, live = 0;
	size_t at = 0;

	s->history_step_ns = step;
	s->history_points = (unsigned)((end + step - 1) / step);
	for (unsigned i = 0; i < s->history_points; i++) {
		s->history[i] = live;
		for (; at < t->npoints && t->points[at].ns <= (i + 1) * step; at++) {
			if (t->points[at].high_bytes > s->history[i])
				s->history[i] = t->points[at].high_bytes;
			live = t->points[at].live_bytes;
		}
	}
}

/* "SIGSEGV"; kept with the image. */
static const char *signal_name(struct image *image, int number)
{
	const char *name = number > 0 ? sigabbrev_np(number) : NULL;

	if (!name)
		return NULL;
	snprintf(image->signal_name, sizeof(image->signal_name), "SIG%s", name);
	return image->signal_name;
}

static struct snapshot *base_new(struct replay *p, const struct snapshot *last)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = p->image->who;
	s->refs = 1;
	s->owner = p->image;
	s->release = image_unref;
	s->state = last->state;
	s->signal = last->signal;
	s->signal_name = signal_name(p->image, last->signal);
	s->uptime_ns = last->uptime_ns;
	s->moments = p->image->marks.last;
	graph_fill(history_timeline(p->history), s);
	p->image->refs++;
	return s;
}

/* From the last tick as it was read, which is of no image. */
static struct snapshot *last_make(struct replay *p, struct snapshot *plain)
{
	static const struct moment end = { .kind = SNAP_PAST, .ns = UINT64_MAX };
	struct snapshot *read = history_snapshot(p->history, plain, &end), *base, *s = NULL;

	if (!read)
		return NULL;
	base = base_new(p, read);
	snapshot_unref(read);
	if (base)
		s = history_snapshot(p->history, base, &end);
	snapshot_unref(base);
	if (s) {
		s->moment = SNAP_NOW;
		/* A program that was not seen to end: its recording did. */
		if (!snapshot_ended(s))
			s->state = SNAP_COPY;
	}
	return s;
}

struct snapshot *recording_last(struct recording *r, size_t stream)
{
	struct snapshot plain = { .refs = 1 };

	if (stream >= r->nreplays) {
		errno = EINVAL;
		return NULL;
	}
	return last_make(r->replays[stream], &plain);
}
