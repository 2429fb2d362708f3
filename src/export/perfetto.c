/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A Perfetto trace (https://perfetto.dev, protos/perfetto/trace): for each process a counter of
 * live bytes over time, of resident memory and threads where the timeline has them, and the heap
 * profile of the snapshot's moment, as heapprofd writes it. ui.perfetto.dev and trace_processor
 * read it.
 */
#include <stdlib.h>
#include <string.h>
#include "src/export/formats.h"
#include "src/export/past.h"
#include "src/export/profile.h"
#include "src/export/proto.h"

#define PAGE	    4096u
#define POINTS_MOST 100000
#define TRACE_START UINT64_C(1000000000) /* the first process's start, as a time of the trace */
#define TRACKS	    8 /* numbers of tracks for each process */

enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11 };
enum { PACKET_FLAGS = 13, PACKET_PROFILE = 37, PACKET_TRACK = 60 };
enum { SEQUENCE = 1, FLAG_CLEARED = 1 };
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME };
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_COARSE_ID, CLOCK_BOOT_ID = 6 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_CMDLINE, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, UNIT_COUNT = 2, UNIT_BYTES = 3 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_VALUE = 30, TYPE_COUNTER = 4 };
enum { PROFILE_STRING = 1, PROFILE_FRAME, PROFILE_CALLSTACK, PROFILE_MAPPING, PROFILE_DUMP };
enum { PROFILE_INDEX = 7 };
enum { ID = 1, STRING_TEXT };
enum { MAPPING_BUILD_ID = 2, MAPPING_START = 4, MAPPING_END, MAPPING_PATH = 7 };
enum { FRAME_NAME = 2, FRAME_MAPPING, FRAME_PC };
enum { CALLSTACK_FRAME = 2 };
enum { DUMP_PID = 1, DUMP_SAMPLE, DUMP_TIME = 9, DUMP_INTERVAL = 12 };
enum { SAMPLE_CALLSTACK = 1, SAMPLE_ALLOCATED, SAMPLE_FREED, SAMPLE_ALLOCS = 5, SAMPLE_FREES };

struct range {
	uint64_t start, end;
	const struct snap_module *module; /* NULL: code outside any object */
};

struct trace {
	struct strbuf *out;
	struct strbuf packet, message, inner;
	struct profile profile;
	struct numbering strings, mappings;
	struct range *range; /* of each mapping */
	uint64_t first_ns; /* realtime start of the earliest process */
};

/* A counter of a process over time. */
struct counter {
	const char *name;
	unsigned unit;
	uint64_t (*value)(const struct timeline_point *p);
};

static uint64_t live_of(const struct timeline_point *p)
{
	return p->live_bytes;
}

static uint64_t rss_of(const struct timeline_point *p)
{
	return p->rss;
}

static uint64_t threads_of(const struct timeline_point *p)
{
	return p->threads;
}

static const struct counter counters[] = {
	{ "heap live bytes", UNIT_BYTES, live_of },
	{ "resident bytes", UNIT_BYTES, rss_of },
	{ "threads", UNIT_COUNT, threads_of },
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static void packet_end(struct trace *t)
{
	proto_uint(&t->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_message(t->out, TRACE_PACKET, &t->packet);
}

static uint64_t time_of(const struct trace *t, const struct snapshot *s, uint64_t ns)
{
	return TRACE_START + (s->start_realtime_ns - t->first_ns) + ns;
}

/* All clocks are one, so that readers can convert between them. */
static void clocks_put(struct trace *t)
{
	static const unsigned ids[] = { CLOCK_MONOTONIC_ID, CLOCK_COARSE_ID, CLOCK_BOOT_ID };

	proto_uint(&t->inner, CLOCK_ID, CLOCK_REALTIME_ID);
	proto_uint(&t->inner, CLOCK_TIME, t->first_ns);
	proto_message(&t->message, CLOCKS_CLOCK, &t->inner);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		proto_uint(&t->inner, CLOCK_ID, ids[i]);
		proto_uint(&t->inner, CLOCK_TIME, TRACE_START);
		proto_message(&t->message, CLOCKS_CLOCK, &t->inner);
	}
	proto_uint(&t->packet, PACKET_FLAGS, FLAG_CLEARED);
	proto_message(&t->packet, PACKET_CLOCKS, &t->message);
	packet_end(t);
}

/* ---- tracks ---- */

static void process_track(struct trace *t, size_t n)
{
	const struct snapshot *s = t->profile.processes[n];
	char name[256];

	proto_uint(&t->inner, PROCESS_PID, (uint64_t)s->pid);
	for (unsigned i = 0; i < s->argc; i++)
		proto_text(&t->inner, PROCESS_CMDLINE, s->argv[i]);
	proto_text(&t->inner, PROCESS_NAME, profile_process_name(s, name, sizeof(name)));
	proto_uint(&t->message, TRACK_UUID, n * TRACKS + 1);
	proto_message(&t->message, TRACK_PROCESS, &t->inner);
	proto_message(&t->packet, PACKET_TRACK, &t->message);
	packet_end(t);
}

static void counter_track(struct trace *t, size_t n, size_t counter)
{
	proto_uint(&t->inner, COUNTER_UNIT, counters[counter].unit);
	proto_uint(&t->message, TRACK_UUID, n * TRACKS + 2 + counter);
	proto_uint(&t->message, TRACK_PARENT, n * TRACKS + 1);
	proto_text(&t->message, TRACK_NAME, counters[counter].name);
	proto_message(&t->message, TRACK_COUNTER, &t->inner);
	proto_message(&t->packet, PACKET_TRACK, &t->message);
	packet_end(t);
}

static void counter_value(struct trace *t, uint64_t ns, uint64_t track, uint64_t value)
{
	proto_uint(&t->message, EVENT_TYPE, TYPE_COUNTER);
	proto_uint(&t->message, EVENT_TRACK, track);
	proto_uint(&t->message, EVENT_VALUE, value);
	proto_uint(&t->packet, PACKET_TIME, ns);
	proto_message(&t->packet, PACKET_EVENT, &t->message);
	packet_end(t);
}

static void process_put(struct trace *t, size_t n)
{
	const struct snapshot *s = t->profile.processes[n];
	const struct timeline *line = n ? NULL : t->profile.options->timeline;
	size_t npoints;
	struct timeline_point *p = past_points(s, line, POINTS_MOST, &npoints);

	t->out->failed |= !p;
	process_track(t, n);
	for (size_t c = 0; c < COUNTERS; c++) {
		bool any = c == 0;

		for (size_t i = 0; i < npoints; i++)
			any |= counters[c].value(&p[i]) != 0;
		if (!any)
			continue;
		counter_track(t, n, c);
		for (size_t i = 0; i < npoints; i++)
			if (c == 0 || counters[c].value(&p[i]))
				counter_value(t, time_of(t, s, p[i].ns), n * TRACKS + 2 + c,
					counters[c].value(&p[i]));
	}
	free(p);
}

/* ---- the heap profile ---- */

/* The ID of a text; it is written when it is new. */
static uint64_t string(struct trace *t, const char *text, size_t len)
{
	bool is_new;
	uint64_t id = numbering_add(&t->strings, text, len, &is_new) + 1ull;

	if (is_new) {
		proto_uint(&t->inner, ID, id);
		proto_bytes(&t->inner, STRING_TEXT, text, len);
		proto_message(&t->message, PROFILE_STRING, &t->inner);
	}
	return id;
}

/* The mapping of a frame: a module at its place in memory. */
static uint32_t mapping_of(struct trace *t, const struct profile_frame *f)
{
	const struct snap_module *module =
		f->frame && f->frame->module->path[0] ? f->frame->module : NULL;
	const uint64_t start = module ? f->pc - f->offset : 0;
	struct strbuf key = STRBUF_INIT;
	struct range *r;
	uint32_t n;

	strbuf_add(&key, (const char *)&start, sizeof(start));
	if (module)
		strbuf_puts(&key, module->path);
	n = numbering_add(&t->mappings, strbuf_text(&key), key.len, NULL);
	t->mappings.failed |= key.failed;
	strbuf_free(&key);
	if (t->mappings.failed)
		return 0;
	r = &t->range[n];
	r->module = module;
	r->start = start;
	if (f->pc >= r->end)
		r->end = f->pc + PAGE - f->pc % PAGE;
	return n;
}

/* Its bytes: what is in the object file's note. */
static size_t build_id_bytes(const char *hex, char *out, size_t cap)
{
	size_t n = 0;

	for (; hex[0] && hex[1] && n < cap; hex += 2) {
		const char digits[3] = { hex[0], hex[1], '\0' };

		out[n++] = (char)strtoul(digits, NULL, 16);
	}
	return n;
}

static void mapping_put(struct trace *t, uint32_t n)
{
	const struct range *r = &t->range[n];
	const char *path = r->module ? r->module->path : "anonymous";
	char id[64];
	size_t len = r->module ? build_id_bytes(r->module->build_id, id, sizeof(id)) : 0;
	uint64_t build_id = string(t, id, len), name;

	name = string(t, path + (path[0] == '/'), strlen(path + (path[0] == '/')));
	proto_uint(&t->inner, ID, n + 1ull);
	proto_uint(&t->inner, MAPPING_BUILD_ID, build_id);
	proto_uint(&t->inner, MAPPING_START, r->start);
	proto_uint(&t->inner, MAPPING_END, r->end);
	proto_uint(&t->inner, MAPPING_PATH, name);
	proto_message(&t->message, PROFILE_MAPPING, &t->inner);
}

static void frame_put(struct trace *t, uint32_t n, uint32_t mapping)
{
	const struct profile_frame *f = &t->profile.frames[n];
	uint64_t name = string(t, f->name, strlen(f->name));

	proto_uint(&t->inner, ID, n + 1ull);
	proto_uint(&t->inner, FRAME_NAME, name);
	proto_uint(&t->inner, FRAME_MAPPING, mapping + 1ull);
	proto_uint(&t->inner, FRAME_PC, t->range[mapping].module ? f->offset : f->pc);
	proto_message(&t->message, PROFILE_FRAME, &t->inner);
}

/* Strings, mappings and frames come before what refers to them. */
static void frames_put(struct trace *t)
{
	uint32_t n = t->profile.nframes;
	uint32_t *mapping = calloc(n + 1, sizeof(*mapping));

	t->range = calloc(n + 1, sizeof(*t->range));
	if (!mapping || !t->range) {
		t->out->failed = true;
		free(mapping);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		mapping[i] = mapping_of(t, &t->profile.frames[i]);
	for (uint32_t i = 0; i < t->mappings.count; i++)
		mapping_put(t, i);
	for (uint32_t i = 0; i < n; i++)
		frame_put(t, i, mapping[i]);
	free(mapping);
}

static void callstack_put(
	struct trace *t, uint64_t id, size_t process, const struct snap_site *site)
{
	uint32_t len;
	const uint32_t *path = profile_path(&t->profile, process, site, &len);

	/* Tracks tell processes apart, not frames. */
	proto_uint(&t->inner, ID, id);
	for (uint32_t i = t->profile.nprocesses > 1 ? 1 : 0; i < len; i++)
		proto_uint(&t->inner, CALLSTACK_FRAME, path[i] + 1ull);
	proto_message(&t->message, PROFILE_CALLSTACK, &t->inner);
}

/* Freed is what was allocated and is not live. Figures of a file may be any: their difference is
 * one of 64 bits, as they are. */
static int64_t freed_of(int64_t allocated, int64_t live)
{
	int64_t freed = (int64_t)((uint64_t)allocated - (uint64_t)live);

	return freed > 0 ? freed : 0;
}

static void sample_put(struct strbuf *dump, struct strbuf *sample, uint64_t id,
	const struct snapshot *s, const struct snap_site *site)
{
	int64_t allocated = profile_weight(s, site, VALUE_ALLOCATED);
	int64_t allocs = profile_weight(s, site, VALUE_ALLOCS);

	proto_uint(sample, SAMPLE_CALLSTACK, id);
	proto_int(sample, SAMPLE_ALLOCATED, allocated);
	proto_int(sample, SAMPLE_FREED, freed_of(allocated, profile_weight(s, site, VALUE_LIVE)));
	proto_int(sample, SAMPLE_ALLOCS, allocs);
	proto_int(sample, SAMPLE_FREES, freed_of(allocs, profile_weight(s, site, VALUE_BLOCKS)));
	proto_message(dump, DUMP_SAMPLE, sample);
}

static void dump_put(struct trace *t, size_t n, uint64_t first_id)
{
	const struct snapshot *s = t->profile.processes[n];
	struct strbuf dump = STRBUF_INIT;

	proto_uint(&dump, DUMP_PID, (uint64_t)s->pid);
	proto_uint(&dump, DUMP_TIME, time_of(t, s, s->uptime_ns));
	proto_uint(&dump, DUMP_INTERVAL, s->sampling.most ? s->sampling.most : 1);
	for (size_t i = 0; i < s->nsites; i++)
		sample_put(&dump, &t->inner, first_id + i, s, &s->sites[i]);
	proto_message(&t->message, PROFILE_DUMP, &dump);
	strbuf_free(&dump);
}

static void profile_put(struct trace *t)
{
	const struct snapshot *s = t->profile.processes[0];
	uint64_t id = 1;

	profile_number(&t->profile);
	frames_put(t);
	for (size_t n = 0; n < t->profile.nprocesses; n++)
		for (size_t i = 0; i < t->profile.processes[n]->nsites; i++)
			callstack_put(t, id++, n, &t->profile.processes[n]->sites[i]);
	id = 1;
	for (size_t n = 0; n < t->profile.nprocesses; n++) {
		dump_put(t, n, id);
		id += t->profile.processes[n]->nsites;
	}
	proto_uint(&t->message, PROFILE_INDEX, 0);
	proto_uint(&t->packet, PACKET_TIME, time_of(t, s, s->uptime_ns));
	proto_message(&t->packet, PACKET_PROFILE, &t->message);
	packet_end(t);
}

void export_perfetto(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct trace t = { .out = out, .first_ns = s->start_realtime_ns };

	profile_open(&t.profile, s, o, PROFILE_MODULE | PROFILE_PC, NAMES_FULL);
	for (size_t n = 0; n < t.profile.nprocesses; n++)
		if (t.profile.processes[n]->start_realtime_ns < t.first_ns)
			t.first_ns = t.profile.processes[n]->start_realtime_ns;
	clocks_put(&t);
	for (size_t n = 0; n < t.profile.nprocesses; n++)
		process_put(&t, n);
	if (t.profile.nprocesses)
		profile_put(&t);
	out->failed |= t.profile.failed || t.strings.failed || t.mappings.failed;
	strbuf_free(&t.packet);
	strbuf_free(&t.message);
	strbuf_free(&t.inner);
	numbering_free(&t.strings);
	numbering_free(&t.mappings);
	free(t.range);
	profile_free(&t.profile);
}
