/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording of all events, written and read again: random events come back one by one; a file cut
 * off anywhere gives what was complete; a damaged one gives less, and never a crash.
 */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/event_columns.h"
#include "src/record/event_replay.h"
#include "src/record/event_write.h"

#define EVENTS 3000u
#define BLOCK  500u

static char path[64];
static struct event events[EVENTS];
static uint64_t seed = 1;

static uint64_t random_below(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static void block_make(struct event *e, enum event_kind kind, uint64_t number)
{
	e->kind = kind;
	e->number = number;
	e->size = random_below(4) ? random_below(300) : random_below(1ull << 31) << 16;
	e->site = (uint32_t)random_below(3);
}

static void block_free(struct event *e, const struct event *block)
{
	e->kind = EVENT_FREE;
	e->number = block->number;
	e->size = block->size;
	e->site = block->site;
}

/* Blocks, freed in any order, by two threads, with some loss. */
static void events_make(void)
{
	static struct event live[EVENTS];
	size_t nlive = 0;
	uint64_t number = 0, tick = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		struct event *e = &events[i];
		size_t which;

		tick += random_below(10) == 0 ? random_below(1000) : 0;
		*e = (struct event){ .tick = tick, .slot = random_below(5) ? 1 : 900 };
		if (i < 10) {
			block_make(e, EVENT_BEFORE, number++);
		} else if (random_below(200) == 0) {
			e->kind = EVENT_LOST;
			e->number = 1 + random_below(1000);
		} else if (nlive > 0 && random_below(2)) {
			which = random_below(nlive);
			block_free(e, &live[which]);
			live[which] = live[--nlive];
		} else {
			block_make(e, EVENT_ALLOC, number++);
		}
		if (e->kind == EVENT_ALLOC || e->kind == EVENT_BEFORE)
			live[nlive++] = *e;
	}
}

static void sites_write(struct event_writer *w)
{
	static const struct event_frame frames[] = { { 0x401000, 1 }, { 0x400500, 1 }, { 77, 0 } };
	struct bytes out = { 0 };

	event_write_module(&out, &(struct event_module){ 1, "/bin/program", "abcd", 0x400000 });
	for (uint32_t i = 0; i < 3; i++)
		event_write_site(&out, i, "malloc", i == 2 ? SNAP_MISSING_OUTER : 0, frames, i + 1);
	event_file_put(w, EVENT_FILE_SITES, 0, &out);
	bytes_free(&out);
}

/* Names of two frames, one of which was inlined. */
static void names_write(struct event_writer *w)
{
	static const struct snap_module module = {
		.path = "/bin/program", .name = "program", .build_id = "abcd"
	};
	static const struct frame frames[] = {
		{ .module = &module,
			.function = "inner",
			.file = "a.c",
			.line = 3,
			.inlined = true,
			.offset = 0x1000,
			.hidden = true },
		{ .pc = 0x401000, .module = &module, .offset = 0x1000, .function = "outer\033" },
	};
	static const struct stack stack = { .frames = frames, .nframes = 2 };
	struct event_names names;

	event_names_begin(&names, w);
	event_names_add(&names, &stack);
	event_names_add(&names, &stack); /* nothing new */
	event_names_end(&names);
}

/* Returns the size of the file. */
static uint64_t file_write(void)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_writer *w = event_file_create(path, message);
	struct event_columns c = { 0 };
	struct stat st = { 0 };

	CHECK(w != NULL);
	event_write_process(w, 0,
		&(struct event_process){ .pid = 7,
			.start_realtime_ns = 5,
			.version = "x",
			.exe = "/bin/program",
			.command = "a\0b c",
			.command_bytes = 6 });
	sites_write(w);
	for (size_t i = 0; i < EVENTS; i++) {
		event_columns_add(&c, &events[i]);
		if (c.count == BLOCK)
			event_write_events(w, 0, &c);
	}
	event_write_events(w, 0, &c);
	names_write(w);
	event_write_end(w, 0, NULL, &(struct event_end){ .ended_ns = 123, .lost = 4 });
	event_columns_free(&c);
	CHECK_INT(event_file_close(w), 0);
	CHECK_INT(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

struct comparing {
	size_t at, wrong;
};

static void event_compare(void *ctx, const struct event *e)
{
	struct comparing *c = ctx;
	const struct event *want = &events[c->at++];

	c->wrong += c->at > EVENTS || e->kind != want->kind || e->tick != want->tick ||
		    e->slot != want->slot || e->number != want->number || e->size != want->size ||
		    e->site != want->site;
}

/* Number of events that come back, all of them right. */
static size_t events_read(struct event_recording *r)
{
	struct comparing c = { 0 };
	const struct event_sink sink = { &c, event_compare };

	CHECK_INT(event_read_each(r, 0, &sink), 0);
	CHECK_INT(c.wrong, 0);
	return c.at;
}

TEST(there_and_back)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r;
	const struct event_about *a;
	const struct stack *stack;
	const char *function;

	events_make();
	file_write();
	CHECK(event_file_is(path));
	r = event_read_open(path, message);
	CHECK(r != NULL);
	if (!r)
		return;
	CHECK_INT(event_read_streams(r), 1);
	a = event_read_about(r, 0);
	CHECK_INT(a->pid, 7);
	CHECK_STR(a->command, "a b c");
	CHECK_INT(a->argc, 2);
	CHECK_STR(a->argv[1], "b c");
	CHECK(a->ended && !a->cut);
	CHECK_INT(a->ended_ns, 123);
	CHECK_INT(a->lost, 4);
	CHECK_INT(events_read(r), EVENTS);
	CHECK_INT(events_read(r), EVENTS); /* as often as wanted */
	stack = event_read_stack(r, 0, 2, &function);
	CHECK(stack && stack->truncated && stack->nframes == 4 && stack->title == 1);
	if (stack) {
		CHECK_STR(snapshot_frame(stack, 0)->function, "inner");
		CHECK(snapshot_frame(stack, 0)->inlined && snapshot_frame(stack, 0)->pc == 0);
		CHECK_STR(snapshot_frame(stack, 1)->function, "outer?");
		CHECK_INT(snapshot_frame(stack, 1)->pc, 0x401000);
		CHECK_STR(snapshot_frame(stack, 2)->module->name, "program");
		CHECK_INT(snapshot_frame(stack, 2)->offset, 0x500);
		CHECK(!snapshot_frame(stack, 2)->function);
		CHECK_STR(snapshot_frame(stack, 3)->module->path, "");
	}
	CHECK(!event_read_stack(r, 0, 3, &function));
	event_read_free(r);
}

/* What a site has, at any moment and at the peak, counted by hand. */
TEST(freed_in_order)
{
	struct event_columns c = { 0 };
	struct event e = { .kind = EVENT_ALLOC, .size = 32, .site = 1 };

	for (e.number = 0; e.number < 3000; e.number++)
		event_columns_add(&c, &e);
	e.kind = EVENT_FREE;
	for (e.number = 0; e.number < 3000; e.number += 3)
		event_columns_add(&c, &e);
	/* A byte each, the same one. */
	CHECK(c.ages.len < 1000 + 8);
	CHECK(c.ages.data[500] == c.ages.data[900]);
	event_columns_free(&c);
}

TEST(replayed)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r = event_read_open(path, message);

	for (size_t k = 0; r && k < EVENTS; k += 173) {
		uint64_t ns = (events[k].tick << EVENT_TICK_SHIFT) + 5, live[3] = { 0 }, all = 0,
			 peak = 0, at_peak[3] = { 0 };
		struct event_replay p;

		for (size_t i = 0; i < EVENTS && events[i].tick <= events[k].tick; i++) {
			const struct event *e = &events[i];

			if (e->kind == EVENT_LOST)
				continue;
			live[e->site] += e->kind == EVENT_FREE ? 0 - e->size : e->size;
			all += e->kind == EVENT_FREE ? 0 - e->size : e->size;
			if (all > peak)
				memcpy(at_peak, live, sizeof(live));
			peak = all > peak ? all : peak;
		}
		CHECK_INT(event_replay_run(r, 0, EVENT_UNTIL_NS(ns), &p), 0);
		CHECK_INT(p.live_bytes, all);
		CHECK_INT(p.peak_bytes, peak);
		for (uint32_t i = 0; i < 3; i++) {
			CHECK_INT(p.sites[i].live_bytes, live[i]);
			CHECK_INT(p.sites[i].at_peak_bytes, at_peak[i]);
		}
		event_replay_free(&p);
	}
	CHECK(r != NULL);
	event_read_free(r);
}

static void *file_load(uint64_t bytes)
{
	char *data = malloc(bytes);
	int fd = open(path, O_RDONLY);

	CHECK(data && read(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
	return data;
}

static void file_store(const void *data, uint64_t bytes)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	CHECK(write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

TEST(cut_anywhere)
{
	uint64_t bytes = file_write();
	char message[EVENT_FILE_MESSAGE_MAX], *data = file_load(bytes);
	size_t most = 0, blocks = 0;

	for (uint64_t cut = 0; cut < bytes; cut++) {
		struct event_recording *r;
		size_t n;

		file_store(data, cut);
		r = event_read_open(path, message);
		if (!r) {
			CHECK(strchr(message, '\n') == NULL && message[0]);
			continue;
		}
		n = events_read(r);
		CHECK(n % BLOCK == 0 && n >= most); /* the more there is, the more is read */
		blocks += n > most;
		most = n;
		CHECK(!event_read_about(r, 0)->ended);
		event_read_free(r);
	}
	CHECK_INT(most, EVENTS);
	CHECK_INT(blocks, EVENTS / BLOCK);
	file_store(data, bytes);
	free(data);
}

static void event_ignore(void *ctx, const struct event *e)
{
}

TEST(damaged)
{
	static const struct event_sink ignore = { NULL, event_ignore };
	uint64_t bytes = file_write();
	char message[EVENT_FILE_MESSAGE_MAX], *data = file_load(bytes);

	for (unsigned i = 0; i < 1500; i++) {
		uint64_t at = random_below(bytes);
		struct event_recording *r;

		data[at] ^= (char)(1u << random_below(8));
		file_store(data, bytes);
		r = event_read_open(path, message);
		for (uint32_t s = 0; r && s < event_read_streams(r); s++)
			event_read_each(r, s, &ignore);
		event_read_free(r);
		if (i % 3)
			data[at] ^= 1; /* some damage stays */
	}
	free(data);
}

static bool damage_said(enum event_file_kind kind, uint32_t stream)
{
	static const struct event_sink ignore = { NULL, event_ignore };
	struct event_writer *w = event_file_create(path, (char[EVENT_FILE_MESSAGE_MAX]){ "" });
	struct bytes strange = { 0 };
	struct event_recording *r;
	bool said;

	event_write_process(w, 0,
		&(struct event_process){
			.pid = 7, .version = "x", .exe = "/x", .command = "", .command_bytes = 1 });
	bytes_add(&strange, "\377\377\377\377\377\377\377\377\377", 9);
	if (kind)
		event_file_put(w, kind, stream, &strange);
	event_write_end(w, 0, NULL, &(struct event_end){ .ended_ns = 123 });
	CHECK_INT(event_file_close(w), 0);
	r = event_read_open(path, (char[EVENT_FILE_MESSAGE_MAX]){ "" });
	CHECK_INT(event_read_each(r, 0, &ignore), 0);
	said = event_read_about(r, 0)->damaged;
	event_read_free(r);
	bytes_free(&strange);
	return said;
}

/* As images of one launch do that have the same libraries. */
TEST(names_of_a_place_may_come_again)
{
	struct event_writer *w = event_file_create(path, (char[EVENT_FILE_MESSAGE_MAX]){ "" });
	struct event_recording *r;

	event_write_process(w, 0,
		&(struct event_process){
			.pid = 7, .version = "x", .exe = "/x", .command = "", .command_bytes = 1 });
	names_write(w);
	names_write(w);
	CHECK_INT(event_file_close(w), 0);
	r = event_read_open(path, (char[EVENT_FILE_MESSAGE_MAX]){ "" });
	CHECK(!event_read_about(r, 0)->damaged);
	event_read_free(r);
}

/* A few bytes of a file name hundreds of inlined calls at each of a thousand frames. */
TEST(a_long_stack_is_shown_without_inlined_calls)
{
	enum { PLACES = 1024, INLINES = 200 };
	static const struct snap_module module = {
		.path = "/bin/program", .name = "program", .build_id = "abcd"
	};
	static struct event_frame places[PLACES];
	static const struct event_frame nowhere[] = { { 0x7000, 0 }, { 0x401000, 1 } };
	static struct frame frames[INLINES];
	const struct stack stack = { .frames = frames, .nframes = INLINES };
	struct event_writer *w = event_file_create(path, (char[EVENT_FILE_MESSAGE_MAX]){ "" });
	const struct stack *few, *many;
	struct event_recording *r;
	struct event_names names;
	struct bytes out = { 0 };
	const char *function;

	for (unsigned i = 0; i < INLINES; i++)
		frames[i] = (struct frame){ .module = &module,
			.function = i + 1 < INLINES ? "inner" : "outer",
			.offset = 0x1000,
			.pc = i + 1 < INLINES ? 0 : 0x401000,
			.inlined = i + 1 < INLINES };
	for (unsigned i = 0; i < PLACES; i++)
		places[i] = (struct event_frame){ 0x401000, 1 };
	event_write_process(w, 0,
		&(struct event_process){
			.pid = 7, .version = "x", .exe = "/x", .command = "", .command_bytes = 1 });
	event_write_module(&out, &(struct event_module){ 1, "/bin/program", "abcd", 0x400000 });
	event_write_site(&out, 0, "malloc", 0, places, 2);
	event_write_site(&out, 1, "malloc", 0, places, PLACES);
	event_write_site(&out, 2, "malloc", 0, nowhere, 2);
	event_file_put(w, EVENT_FILE_SITES, 0, &out);
	event_names_begin(&names, w);
	event_names_add(&names, &stack);
	event_names_end(&names);
	CHECK_INT(event_file_close(w), 0);
	r = event_read_open(path, (char[EVENT_FILE_MESSAGE_MAX]){ "" });
	few = event_read_stack(r, 0, 0, &function);
	many = event_read_stack(r, 0, 1, &function);
	CHECK(few && few->nframes == 2 * INLINES);
	CHECK(many && many->nframes == PLACES);
	CHECK_STR(many ? many->frames[5].function : "", "outer");
	/* Code of no object file names no site. */
	many = event_read_stack(r, 0, 2, &function);
	CHECK(many && many->title == 1 && strcmp(many->frames[1].function, "inner") == 0);
	event_read_free(r);
	bytes_free(&out);
}

TEST(damage_is_said)
{
	CHECK(!damage_said(0, 0));
	CHECK(damage_said(EVENT_FILE_EVENTS, 0));
	CHECK(damage_said(EVENT_FILE_SITES, 0));
	CHECK(damage_said(EVENT_FILE_EVENTS, 5)); /* of a stream that has not begun */
}

/* A full disk: the first failure is reported, and what is there can be read. */
TEST(no_room)
{
	struct rlimit before, small = { 3000, 3000 };
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_writer *w;
	struct event_columns c = { 0 };
	struct event_recording *r;

	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	w = event_file_create(path, message);
	event_write_process(w, 0, &(struct event_process){ .pid = 7, .exe = "", .command = "" });
	for (size_t i = 0; i < EVENTS; i++) {
		event_columns_add(&c, &events[i]);
		if (c.count == BLOCK)
			event_write_events(w, 0, &c);
	}
	event_columns_free(&c);
	CHECK_INT(event_file_close(w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	r = event_read_open(path, message);
	CHECK(r && events_read(r) >= BLOCK && event_read_about(r, 0)->cut);
	event_read_free(r);
}

/* What a reader would take for damage is not written, but an error. */
TEST(too_large_a_block_is_refused)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_writer *w = event_file_create(path, message);
	struct bytes raw = { .data = calloc(1, 64u << 20), .len = 64u << 20, .cap = 64u << 20 };
	struct event_file_block block;
	struct event_reader *r;

	CHECK_INT(event_file_put(w, EVENT_FILE_SITES, 0, &raw), 0);
	raw.len = (64u << 20) + 1;
	CHECK_INT(event_file_put(w, EVENT_FILE_SITES, 0, &raw), -EOVERFLOW);
	CHECK_INT(event_file_close(w), -EOVERFLOW);
	bytes_free(&raw);
	r = event_file_open(path, message);
	CHECK_INT(event_file_next(r, &block), 1);
	CHECK_INT(event_file_next(r, &block), 0);
	CHECK(!event_file_is_cut(r));
	event_file_free(r);
}

int main(void)
{
	snprintf(path, sizeof(path), "%s/events.XXXXXX", check_memory());
	close(mkstemp(path));
	RUN(there_and_back);
	RUN(freed_in_order);
	RUN(replayed);
	RUN(cut_anywhere);
	RUN(damaged);
	RUN(names_of_a_place_may_come_again);
	RUN(a_long_stack_is_shown_without_inlined_calls);
	RUN(damage_is_said);
	RUN(no_room);
	RUN(too_large_a_block_is_refused);
	unlink(path);
	return check_end();
}
