/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of one process image on their way into a file (event_stream.h). One thread. */
#include "src/run/event_stream.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/record/event_tags.h"
#include "src/util/array.h"
#include "src/util/clock.h"

#define BATCH 4096u /* events of one read: 128 KB, which stays in the cache */
/* Events that are ordered and encoded between two readings: the busiest thread writes no more than
 * these meanwhile. What is read beyond them is kept, up to 64 MB, so that a program that is faster
 * than us for some seconds loses nothing. */
#define PART_EVENTS    (HT_RING_EVENTS / 2)
#define BACKLOG_EVENTS (1u << 21)
#define BLOCK_EVENTS   65536u /* events of one block of the file: some tens of KB */
#define WANTED_NS      5000000000ull /* the program writes events for so long after our death */
#define SEED_READINGS  50 /* some microseconds each */
#define STUCK_NS       100000000ull /* a shared event that is unfinished for so long stays so */

struct event_stream {
	struct event_stream_options options;
	struct read_segment *segment;
	struct read_identity identity;
	bool running; /* the library has reported; `identity` is valid, and in the file */
	struct event_order *order;
	struct event_columns columns;
	struct bytes sites; /* contents of a block */
	uint8_t *site_known, *module_known; /* bits */
	struct ht_event *batch;
	struct read_totals totals; /* too large for the stack */
	uint64_t began_ns, flushed_ns;
	uint64_t wanted_ns; /* until then the program writes events; 0: it has not been asked */
	/* Events that the program counted and that we read, or know to be lost; see missed_find. */
	uint64_t counted_before, seen, seen_before;
	bool busy; /* the last reading found events */
	bool behind; /* there are events to be passed on, even if no more come */
	uint64_t moved_ns; /* when slot 0's ring was not stuck */
	int error; /* -errno: the first of a pass, or of memory while visiting */
};

static_assert(sizeof(struct event_raw) == sizeof(struct ht_event) &&
		      offsetof(struct event_raw, site) == offsetof(struct ht_event, site) &&
		      offsetof(struct event_raw, kind) == offsetof(struct ht_event, kind) &&
		      offsetof(struct event_raw, tick) == offsetof(struct ht_event, tick) &&
		      EVENT_RAW_ALLOC == (int)HT_EVENT_ALLOC &&
		      EVENT_RAW_FREE == (int)HT_EVENT_FREE && EVENT_SLOTS_MAX >= HT_SLOTS_MAX &&
		      EVENT_TICK_SHIFT == HT_TICK_SHIFT,
	"struct event_raw");

/* ---- sites ---- */

static bool bit_test_set(uint8_t *bits, uint32_t i)
{
	bool was = bits[i / 8] >> (i % 8) & 1;

	bits[i / 8] |= (uint8_t)(1u << (i % 8));
	return was;
}

static void module_write(struct event_stream *s, uint32_t number)
{
	struct read_module m;
	char build_id[2 * HT_BUILD_ID_MAX + 1] = "";

	if (number == 0 || number >= EVENT_MODULES_MAX || bit_test_set(s->module_known, number))
		return;
	if (read_module(s->segment, number, &m) != 0)
		memset(&m, 0, sizeof(m));
	for (uint32_t i = 0; i < m.build_id_bytes && i < HT_BUILD_ID_MAX; i++)
		snprintf(build_id + 2 * i, 3, "%02x", m.build_id[i]);
	event_write_module(&s->sites, &(struct event_module){ number, m.path, build_id, m.bias });
}

/* Site 0 has no stack. */
static void site_write(struct event_stream *s, uint32_t site)
{
	static struct read_frame frames[HT_DEPTH_MAX];
	static struct event_frame out[HT_DEPTH_MAX];
	uint32_t node = 0, flags = 0, function = HT_FN_NONE;
	ssize_t count = 0;

	if (read_site_node(s->segment, site, &node, &flags) == 0 && node != 0)
		count = read_stack(s->segment, node, frames, HT_DEPTH_MAX, &function);
	for (ssize_t i = 0; i < count; i++) {
		module_write(s, frames[i].module);
		out[i] = (struct event_frame){ frames[i].pc, frames[i].module };
	}
	event_write_site(&s->sites, site,
		flags & HT_SITE_ANCESTOR || function == HT_FN_NONE
			? "malloc"
			: read_function_name(s->segment, function),
		(flags & HT_SITE_TRUNCATED ? SNAP_MISSING_OUTER : 0) |
			(flags & HT_SITE_ANCESTOR ? SNAP_MISSING_INNER : 0),
		out, count > 0 ? (size_t)count : 0);
}

/* ---- from the order to the file ---- */

static void sites_flush(struct event_stream *s)
{
	if (s->sites.len > 0)
		event_file_put(s->options.writer, EVENT_FILE_SITES, s->options.number, &s->sites);
}

static void flush(struct event_stream *s)
{
	sites_flush(s);
	event_write_events(s->options.writer, s->options.number, &s->columns);
	s->flushed_ns = clock_monotonic_ns();
}

static void event_take(void *ctx, const struct event *e)
{
	struct event_stream *s = ctx;

	if ((e->kind == EVENT_ALLOC || e->kind == EVENT_BEFORE) && e->site < HT_SITES_MAX &&
		!bit_test_set(s->site_known, e->site))
		site_write(s, e->site);
	if (s->sites.len >= EVENT_FILE_BLOCK)
		sites_flush(s);
	event_columns_add(&s->columns, e);
	if (s->columns.count >= BLOCK_EVENTS)
		flush(s);
}

/* ---- reading ---- */

/* As read_events_of. Slot 0's ring may stop at an event that its writer never finishes. */
static ssize_t batch_read(struct event_stream *s, uint32_t slot, uint64_t now, uint64_t *lost)
{
	bool stuck = slot == 0 && now - s->moved_ns > STUCK_NS;
	ssize_t got = read_events_of(s->segment, slot, s->batch, BATCH, stuck, lost);

	if (got == -EAGAIN)
		return 0;
	if (slot == 0)
		s->moved_ns = now;
	return got;
}

/* Reads a ring once around at most. Returns the number of events, or -errno. */
static ssize_t ring_read_all(struct event_stream *s, uint32_t slot, uint64_t now)
{
	size_t total = 0;
	ssize_t got;

	do {
		uint64_t lost = 0;

		got = batch_read(s, slot, now, &lost);
		event_order_lost(s->order, lost);
		s->seen += lost + (got > 0 ? (uint64_t)got : 0);
		if (got > 0 && event_order_add(s->order, slot, (const struct event_raw *)s->batch,
				       (size_t)got) != 0)
			got = -ENOMEM;
		total += got > 0 ? (size_t)got : 0;
	} while (got == (ssize_t)BATCH && total < HT_RING_EVENTS);
	return got < 0 ? got : (ssize_t)total;
}

void event_stream_introduce(struct event_stream *s)
{
	const struct read_identity *id = &s->identity;
	struct event_process p;

	if (s->running || read_identity(s->segment, &s->identity) != 0 ||
		id->state == HT_STATE_PREPARED)
		return;
	s->running = true;
	p = (struct event_process){ .pid = id->pid,
		.start_realtime_ns = id->created_realtime_ns,
		.began_ns = s->options.attached ? s->began_ns - id->created_ns : 0,
		.lossless = s->options.lossless,
		.version = HEAPTOP_VERSION,
		.exe = id->exe,
		.command = id->command,
		.command_bytes = id->command_bytes };
	event_write_process(s->options.writer, s->options.number, &p);
}

static uint64_t tick_at(const struct event_stream *s, uint64_t ns)
{
	return ns > s->identity.created_ns ? (ns - s->identity.created_ns) >> HT_TICK_SHIFT : 0;
}

/* Passes on some of what was read before `until`, or all. 0 or -errno. */
static int read_pass_on(struct event_stream *s, uint64_t until, enum event_stream_way way)
{
	uint64_t held = event_order_counts(s->order).held;
	int rc;

	if (way != EVENT_STREAM_PART)
		return event_order_pass(s->order, until, way == EVENT_STREAM_LAST);
	rc = event_order_part(
		s->order, until, held > BACKLOG_EVENTS ? BACKLOG_EVENTS / 4 : PART_EVENTS);
	s->behind = rc > 0;
	return rc > 0 ? 0 : rc;
}

/* One reading of all rings; the events are not passed on yet. Returns their number, or -errno. */
static ssize_t rings_read(struct event_stream *s, uint64_t now)
{
	ssize_t slots, total = 0;

	event_stream_introduce(s);
	/* So that the events of a quiet program have a recent stamp, too. */
	if (s->running && (s->busy || kill(s->identity.pid, 0) == 0))
		read_publish_clock(s->segment, now);
	slots = read_events_slots(s->segment);
	for (ssize_t slot = 0; slot < slots; slot++) {
		ssize_t got = ring_read_all(s, (uint32_t)slot, now);

		if (got < 0)
			return got;
		total += got;
	}
	s->busy = total > 0;
	return slots < 0 ? slots : total;
}

ssize_t event_stream_pass(struct event_stream *s, enum event_stream_way way)
{
	uint64_t now = clock_monotonic_ns();
	ssize_t total = rings_read(s, now);
	int rc = total < 0 ? (int)total : read_pass_on(s, tick_at(s, now), way);

	if (rc != 0 && s->error == 0)
		s->error = rc;
	return rc ? rc : total;
}

bool event_stream_is_behind(const struct event_stream *s)
{
	return s->behind;
}

/* ---- events that were never written ---- */

/* The number of events so far, by the program's counters. False: unknown. */
static bool counted(struct event_stream *s, uint64_t *events)
{
	struct read_totals *t = &s->totals;

	if (!s->running || read_totals(s->segment, t) != 0 || t->sample_most != 0)
		return false;
	*events = t->allocs + t->frees;
	return true;
}

/*
 * A thread writes no event while it does not know that they are wanted: in a program attached to,
 * and after we were stopped for so long that the program gave us up. The counters know of these
 * events. They were read before the rings, so those in flight are not taken for missed ones.
 */
static void missed_find(struct event_stream *s)
{
	uint64_t events, missed;

	if (!counted(s, &events) || event_stream_pass(s, EVENT_STREAM_ALL) < 0)
		return;
	missed = events - s->counted_before - (s->seen - s->seen_before);
	if ((int64_t)missed <= 0)
		return;
	event_order_lost(s->order, missed);
	s->seen += missed;
}

/*
 * What the program has counted by now is in the blocks that will be found live. What it counts
 * while these are read may be in them or not, so it is missed unless its events come. Several
 * readings are tried: the one with the fewest events in flight is taken.
 */
static int missed_begin(struct event_stream *s)
{
	uint64_t before, after, least = UINT64_MAX;

	for (int i = 0; i < SEED_READINGS && least > 0; i++) {
		ssize_t rc;

		if (!counted(s, &before))
			return 0;
		rc = rings_read(s, clock_monotonic_ns());
		if (rc < 0)
			return (int)rc;
		if (!counted(s, &after) || after - before >= least)
			continue;
		least = after - before;
		s->counted_before = after;
		s->seen_before = s->seen;
	}
	return 0;
}

struct seed {
	struct event_raw *blocks;
	size_t count, room;
	bool failed;
};

static void block_seed(void *ctx, const struct read_block *b)
{
	struct seed *seed = ctx;
	struct event_raw *blocks =
		array_grow(seed->blocks, seed->count, &seed->room, sizeof(*blocks));

	seed->failed |= !blocks;
	if (!blocks)
		return;
	seed->blocks = blocks;
	blocks[seed->count++] =
		(struct event_raw){ b->addr, b->size, b->tick, b->site, EVENT_RAW_ALLOC };
}

int event_stream_seed(struct event_stream *s)
{
	struct seed seed = { 0 };
	ssize_t rc;

	event_stream_introduce(s);
	rc = missed_begin(s);
	if (rc >= 0)
		rc = read_blocks(s->segment, block_seed, &seed);
	if (rc >= 0)
		rc = seed.failed ? -ENOMEM : event_order_before(s->order, seed.blocks, seed.count);
	free(seed.blocks);
	return rc < 0 ? (int)rc : s->error;
}

/* A program that restricts its system calls further than we may be killed for the one by which it
 * would wait. */
static bool may_wait(const struct event_stream *s)
{
	struct proc_reading its, ours;

	return !s->running || proc_read(s->identity.pid, false, &its) != 0 || its.filters == 0 ||
	       (proc_read(getpid(), false, &ours) == 0 && its.filters <= ours.filters);
}

int event_stream_renew(struct event_stream *s, uint64_t now)
{
	int rc;

	if (s->wanted_ns != 0 && now > s->wanted_ns)
		missed_find(s);
	s->wanted_ns = now + WANTED_NS;
	rc = read_events_request(s->segment, s->wanted_ns);
	if (rc == 0 && s->options.lossless)
		rc = read_events_hold(s->segment, may_wait(s) ? now + HT_RING_WAIT_NS : 0);
	return rc;
}

void event_stream_flush(struct event_stream *s, uint64_t before_ns)
{
	if (s->running && s->flushed_ns < before_ns)
		flush(s);
}

const char *event_stream_path(const struct event_stream *s)
{
	return read_path(s->segment);
}

bool event_stream_is_over(const struct event_stream *s)
{
	return access(read_path(s->segment), F_OK) != 0;
}

struct event_order_counts event_stream_counts(const struct event_stream *s)
{
	return event_order_counts(s->order);
}

void event_stream_waits(const struct event_stream *s, uint64_t *waits, uint64_t *waited_ns)
{
	if (read_events_waits(s->segment, waits, waited_ns) != 0)
		*waits = *waited_ns = 0;
}

/* ---- start and end ---- */

static void stream_free(struct event_stream *s)
{
	read_close(s->segment);
	event_order_free(s->order);
	event_columns_free(&s->columns);
	bytes_free(&s->sites);
	free(s->site_known);
	free(s->module_known);
	free(s->batch);
	free(s);
}

/* 0 or -errno. */
static int memory_make(struct event_stream *s)
{
	const struct event_sink sink = { s, event_take };

	s->order = event_order_new(&sink);
	s->site_known = calloc(HT_SITES_MAX / 8, 1);
	s->module_known = calloc(EVENT_MODULES_MAX / 8, 1);
	s->batch = malloc(BATCH * sizeof(*s->batch));
	return s->order && s->site_known && s->module_known && s->batch ? 0 : -ENOMEM;
}

struct event_stream *event_stream_open(
	const char *path, const struct event_stream_options *o, char *message)
{
	struct event_stream *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	if (s) {
		s->options = *o;
		s->began_ns = s->flushed_ns = s->moved_ns = clock_monotonic_ns();
		rc = memory_make(s);
	}
	if (rc == 0) {
		s->segment = read_open(path, message);
		if (!s->segment) {
			stream_free(s);
			return NULL;
		}
		/* An image that was found by itself wrote events before we asked. */
		rc = o->number == 0 ? event_stream_renew(s, s->began_ns)
				    : read_events_continue(s->segment);
	}
	if (rc == 0)
		return s;
	snprintf(message, READ_MESSAGE_MAX, "cannot record events: %s", strerror(-rc));
	if (s)
		stream_free(s);
	return NULL;
}

void event_stream_close(struct event_stream *s, struct event_stream_end *out)
{
	struct event_order_counts counts;

	if (s->options.lossless)
		(void)read_events_hold(s->segment, 0);
	missed_find(s);
	if (event_stream_pass(s, EVENT_STREAM_ALL) >= 0)
		(void)event_stream_pass(s, EVENT_STREAM_LAST);
	if (s->running)
		flush(s);
	counts = event_order_counts(s->order);
	*out = (struct event_stream_end){ .number = s->options.number,
		.pid = s->identity.pid,
		.start_realtime_ns = s->identity.created_realtime_ns,
		.end = { .ended_ns = clock_monotonic_ns() - s->identity.created_ns,
			.events = counts.events,
			.lost = counts.lost,
			.missed_frees = counts.missed_frees,
			.unknown_frees = counts.unknown_frees },
		.error = s->error };
	event_stream_waits(s, &out->end.waits, &out->end.waited_ns);
	if (s->running)
		event_write_end(s->options.writer, s->options.number, NULL, &out->end);
	stream_free(s);
}
