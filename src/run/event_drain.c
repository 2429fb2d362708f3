/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records every event of a launch into a file (event_drain.h). One thread reads the rings of all
 * its process images in turn. It learns of new ones from the kernel, as a process that is executed
 * or forked fills its rings long before the screen's next tick.
 */
#include "src/run/event_drain.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/run/event_stream.h"
#include "src/run/segment_watch.h"
#include "src/session/session.h"
#include "src/util/array.h"
#include "src/util/clock.h"
#include "src/util/thread.h"

#define FLUSH_NS     250000000u /* what is lost when we are killed */
#define RENEW_NS     100000000u
#define NAP_LEAST_NS 200000u
#define NAP_MOST_NS  2000000u /* the busiest thread fills a ring in about 3 ms */
#define BUSY_EVENTS  (HT_RING_EVENTS / 4) /* a reading with more is followed by a shorter nap */
#define IDLE_EVENTS  (HT_RING_EVENTS / 8) /* one with fewer by a longer one */
#define STATE_NS     20000000u /* between two looks at what the screen shows of us */
#define SEED_NAP_NS  20000000u /* until running threads have noticed that events are wanted */
#define OVER_EVERY   250u /* readings between two searches for images that have ended */

struct event_drain {
	struct event_drain_options options;
	struct segment_watch *watch; /* NULL: there is only one image */
	uint64_t family; /* of the launch; 0: there is only one image */
	struct event_writer *writer;
	struct event_stream **streams; /* the first one stays until the end */
	size_t nstreams, stream_room;
	struct event_stream_end *ends; /* of those that are over */
	size_t nends, end_room;
	uint32_t next_number, unopened;
	struct read_identity identity; /* of one of them: too large for the stack */
	uint64_t since_ns, renewed_ns, shown_ns, passes;
	int error;
	pthread_t thread;
	/* Shared with the main thread. */
	pthread_mutex_t lock;
	pthread_cond_t woken, taken;
	bool end, ended;
	char leaving[HT_PATH_MAX]; /* the segment that event_drain_take waits for; "": none */
	struct event_drain_state state;
};

/* ---- images ---- */

/* 0 or -errno. */
static int stream_add(struct event_drain *d, const char *path, char *message)
{
	const struct event_stream_options o = { .writer = d->writer,
		.number = d->next_number,
		.lossless = d->options.lossless,
		.attached = d->options.attached };
	struct event_stream **streams =
		array_grow(d->streams, d->nstreams, &d->stream_room, sizeof(*streams));
	struct event_stream *s;

	if (!streams)
		return -ENOMEM;
	d->streams = streams;
	s = event_stream_open(path, &o, message);
	if (!s)
		return -EIO;
	d->streams[d->nstreams++] = s;
	d->next_number++;
	return 0;
}

static void stream_end(struct event_drain *d, size_t i)
{
	struct event_stream_end *ends = array_grow(d->ends, d->nends, &d->end_room, sizeof(*ends));
	struct event_stream_end end;

	event_stream_close(d->streams[i], &end);
	d->streams[i] = d->streams[--d->nstreams];
	if (!ends) {
		d->error = -ENOMEM;
		return;
	}
	d->ends = ends;
	ends[d->nends++] = end;
}

/* The first stream's segment is where new images look for what is wanted: it is kept. */
static void over_end(struct event_drain *d)
{
	if (d->passes % OVER_EVERY)
		return;
	for (size_t i = d->nstreams; i > 1; i--)
		if (event_stream_is_over(d->streams[i - 1]))
			stream_end(d, i - 1);
}

static bool is_ended(const struct event_drain *d, const struct read_identity *id)
{
	for (size_t i = d->nends; i > 0; i--)
		if (d->ends[i - 1].pid == id->pid &&
			d->ends[i - 1].start_realtime_ns == id->created_realtime_ns)
			return true;
	return false;
}

/* The stream that reads a segment, or nstreams. */
static size_t stream_of(const struct event_drain *d, const char *path)
{
	size_t i = 0;

	while (i < d->nstreams && strcmp(event_stream_path(d->streams[i]), path) != 0)
		i++;
	return i;
}

/* Opens a segment if it is complete, of our launch, and new to us. */
static enum segment_watch_answer image_open(void *ctx, const char *path)
{
	struct event_drain *d = ctx;
	const struct read_identity *id = &d->identity;
	char message[READ_MESSAGE_MAX];

	if (stream_of(d, path) < d->nstreams)
		return SEGMENT_WATCH_SETTLED;
	if (read_identity_of_file(path, &d->identity, message) != 0)
		return SEGMENT_WATCH_LATER;
	if (id->family != d->family)
		return SEGMENT_WATCH_SETTLED;
	if (id->state == HT_STATE_PREPARED)
		return SEGMENT_WATCH_LATER;
	if (is_ended(d, id))
		return SEGMENT_WATCH_SETTLED;
	if (stream_add(d, path, message) != 0) {
		d->unopened++;
		return SEGMENT_WATCH_LATER;
	}
	/* The first one, too: it may have reported only just before it ran this one. */
	for (size_t i = 0; i < d->nstreams; i++)
		event_stream_introduce(d->streams[i]);
	return SEGMENT_WATCH_SETTLED;
}

/* ---- images that leave ---- */

/* Reads the rest of a segment that is about to be removed, or all of it if it is new to us. */
static void leaving_read(struct event_drain *d, const char *path)
{
	size_t i;

	(void)image_open(d, path);
	i = stream_of(d, path);
	if (i > 0 && i < d->nstreams)
		stream_end(d, i);
}

static void leaving_take(struct event_drain *d)
{
	char path[sizeof(d->leaving)];

	pthread_mutex_lock(&d->lock);
	memcpy(path, d->leaving, sizeof(path));
	pthread_mutex_unlock(&d->lock);
	if (!path[0])
		return;
	leaving_read(d, path);
	pthread_mutex_lock(&d->lock);
	d->leaving[0] = '\0';
	pthread_cond_signal(&d->taken);
	pthread_mutex_unlock(&d->lock);
}

void event_drain_take(struct event_drain *d, const char *path)
{
	pthread_mutex_lock(&d->lock);
	if (d->family != 0 && !d->ended)
		snprintf(d->leaving, sizeof(d->leaving), "%s", path);
	pthread_cond_signal(&d->woken);
	while (d->leaving[0] && !d->ended)
		pthread_cond_wait(&d->taken, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

/* ---- the thread ---- */

/* Until a time has passed, or the main thread wants something. */
static void nap(struct event_drain *d, uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	pthread_mutex_lock(&d->lock);
	if (!d->end && !d->leaving[0])
		pthread_cond_timedwait(&d->woken, &d->lock, &t);
	pthread_mutex_unlock(&d->lock);
}

static bool is_over(struct event_drain *d)
{
	bool end;

	pthread_mutex_lock(&d->lock);
	end = d->end;
	pthread_mutex_unlock(&d->lock);
	return end;
}

/* Publishes the figures. */
static void state_publish(struct event_drain *d)
{
	struct event_drain_state s = { .file = d->options.file,
		.file_bytes = event_file_bytes(d->writer),
		.since_ns = d->since_ns,
		.error = d->error ? d->error : event_file_error(d->writer),
		.images = d->next_number,
		.unopened = d->unopened };

	for (size_t i = 0; i < d->nends; i++) {
		s.unread += d->ends[i].error != 0;
		s.lost += d->ends[i].end.lost;
		s.waits += d->ends[i].end.waits;
		s.waited_ns += d->ends[i].end.waited_ns;
		s.events += d->ends[i].end.events;
	}
	for (size_t i = 0; i < d->nstreams; i++) {
		struct event_order_counts counts = event_stream_counts(d->streams[i]);
		uint64_t waits, waited_ns;

		event_stream_waits(d->streams[i], &waits, &waited_ns);
		s.lost += counts.lost;
		s.events += counts.events;
		s.waits += waits;
		s.waited_ns += waited_ns;
	}
	pthread_mutex_lock(&d->lock);
	d->state = s;
	pthread_mutex_unlock(&d->lock);
}

/* All images go on writing events, and waiting for us, as long as we renew that. */
static void renew(struct event_drain *d, uint64_t now)
{
	if (now - d->renewed_ns < RENEW_NS)
		return;
	d->renewed_ns = now;
	for (size_t i = 0; i < d->nstreams; i++)
		(void)event_stream_renew(d->streams[i], now);
}

/* One reading of an image, which is over if it cannot be read. Returns the number of events. */
static size_t stream_pass(struct event_drain *d, size_t i, bool *behind)
{
	ssize_t got = event_stream_pass(d->streams[i], EVENT_STREAM_PART);

	if (got < 0 && i > 0 && got != -ENOMEM) {
		stream_end(d, i);
		return 0;
	}
	if (got < 0)
		d->error = (int)got;
	*behind |= event_stream_is_behind(d->streams[i]);
	event_stream_flush(d->streams[i], clock_monotonic_ns() - FLUSH_NS);
	return got > 0 ? (size_t)got : 0;
}

/* One reading of all images. Returns the number of events; *behind: others are to be passed on. */
static size_t pass(struct event_drain *d, bool *behind)
{
	size_t total = 0;

	*behind = false;
	d->passes++;
	if (d->watch)
		segment_watch_new_ones(d->watch, image_open, d);
	for (size_t i = d->nstreams; i-- > 0;)
		total += stream_pass(d, i, behind);
	over_end(d);
	return total;
}

/* What is not worth doing after each reading. */
static void periodic(struct event_drain *d, uint64_t now)
{
	renew(d, now);
	if (now - d->shown_ns < STATE_NS)
		return;
	d->shown_ns = now;
	state_publish(d);
}

/* A program that waits for us loses nothing if it fills more of its ring meanwhile. */
static uint64_t nap_next(const struct event_drain *d, uint64_t nap_ns, size_t got)
{
	if (got > IDLE_EVENTS && !d->options.lossless)
		return NAP_LEAST_NS;
	if (got > BUSY_EVENTS && nap_ns > NAP_LEAST_NS)
		return nap_ns / 2;
	if (got < IDLE_EVENTS && nap_ns < NAP_MOST_NS)
		return nap_ns * 2;
	return nap_ns;
}

static void *drain_run(void *ctx)
{
	struct event_drain *d = ctx;
	uint64_t nap_ns = NAP_LEAST_NS;

	if (d->options.attached) {
		nap(d, SEED_NAP_NS);
		d->error = event_stream_seed(d->streams[0]);
	}
	while (!is_over(d) && d->error == 0) {
		bool behind;
		size_t got = pass(d, &behind);

		leaving_take(d);
		periodic(d, clock_monotonic_ns());
		nap_ns = nap_next(d, nap_ns, got);
		if (!behind && got < HT_RING_EVENTS / 2)
			nap(d, nap_ns);
	}
	state_publish(d);
	pthread_mutex_lock(&d->lock);
	d->ended = true;
	pthread_cond_signal(&d->taken);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* ---- start and end ---- */

static void drain_free(struct event_drain *d)
{
	segment_watch_free(d->watch);
	free(d->streams);
	free(d->ends);
	free(d);
}

/* Where new images of the launch appear. Without a launch there is one image. */
static void images_watch(struct event_drain *d)
{
	const char *path = d->options.segment, *slash = strrchr(path, '/');
	char message[READ_MESSAGE_MAX], directory[HT_PATH_MAX];

	if (!slash || (size_t)(slash - path) >= sizeof(directory) || d->options.attached ||
		read_identity_of_file(path, &d->identity, message) != 0 || d->identity.family == 0)
		return;
	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
	d->watch = segment_watch_new(directory);
	d->family = d->watch ? d->identity.family : 0;
}

static void locks_make(struct event_drain *d)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->woken, &attributes);
	pthread_cond_init(&d->taken, NULL);
	pthread_condattr_destroy(&attributes);
}

struct event_drain *event_drain_start(const struct event_drain_options *o, char *message)
{
	struct event_drain *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	snprintf(message, EVENT_DRAIN_MESSAGE_MAX, "cannot record events: out of memory");
	if (!d)
		return NULL;
	d->options = *o;
	d->since_ns = clock_monotonic_ns();
	locks_make(d);
	images_watch(d);
	d->writer = event_file_create(o->file, message);
	if (d->writer)
		rc = stream_add(d, o->segment, message);
	if (rc == 0) {
		rc = thread_start(&d->thread, 2 * THREAD_STACK_BYTES, drain_run, d);
		if (rc == 0)
			return d;
		snprintf(message, EVENT_DRAIN_MESSAGE_MAX, "cannot record events: %s",
			strerror(-rc));
		stream_end(d, 0);
	}
	event_file_close(d->writer);
	drain_free(d);
	return NULL;
}

void event_drain_state(struct event_drain *d, struct event_drain_state *out)
{
	pthread_mutex_lock(&d->lock);
	*out = d->state;
	pthread_mutex_unlock(&d->lock);
}

/* Reads the rest of all images, also of those that have not been opened: what could not be opened
 * for lack of descriptors or memory is tried again once the others are closed. */
static void images_end(struct event_drain *d)
{
	for (int round = 0; round < 2; round++) {
		d->unopened = 0;
		if (d->watch)
			segment_watch_all(d->watch, image_open, d);
		while (d->nstreams > 0)
			stream_end(d, d->nstreams - 1);
	}
}

/* The snapshot of an image that has ended, among `s` and its children. NULL: none. */
static const struct snapshot *snapshot_of(
	const struct snapshot *s, const struct event_stream_end *end)
{
	const struct snapshot *found = NULL;

	if (s && s->pid == end->pid && s->start_realtime_ns == end->start_realtime_ns)
		return s;
	for (size_t i = 0; s && i < s->nchildren && !found; i++)
		found = snapshot_of(s->children[i], end);
	return found;
}

static void name_write(void *names, const struct stack *s)
{
	event_names_add(names, s);
}

/* The names of a snapshot and its children. */
static void names_write(struct event_names *names, const struct snapshot *s)
{
	if (!s)
		return;
	session_stacks_each(s, name_write, names);
	for (size_t i = 0; i < s->nchildren; i++)
		names_write(names, s->children[i]);
}

int event_drain_end(
	struct event_drain *d, const struct snapshot *last, struct event_drain_state *state)
{
	struct event_names names;
	int rc;

	pthread_mutex_lock(&d->lock);
	d->end = true;
	pthread_cond_signal(&d->woken);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	images_end(d);
	event_names_begin(&names, d->writer);
	names_write(&names, last);
	event_names_end(&names);
	for (size_t i = 0; i < d->nends; i++) {
		const struct snapshot *s = snapshot_of(last, &d->ends[i]);

		if (s)
			event_write_end(d->writer, d->ends[i].number, s, &d->ends[i].end);
	}
	state_publish(d);
	*state = d->state;
	rc = event_file_close(d->writer);
	rc = rc ? rc : d->error;
	drain_free(d);
	return rc;
}
