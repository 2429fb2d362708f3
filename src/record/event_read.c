/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a recording of all events (event_read.h). One thread. */
#include "src/record/event_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/event_blocks.h"
#include "src/record/event_columns.h"
#include "src/record/event_stacks.h"
#include "src/record/event_tags.h"
#include "src/util/array.h"
#include "src/util/text.h"

/* A process image. */
struct stream {
	struct event_about about;
	struct event_stacks *stacks;
	char *exe, *command, *signal_name;
	const char **argv;
	struct snap_thread *threads;
	uint64_t *blocks; /* where its blocks of events are */
	size_t nblocks, block_room;
};

struct event_recording {
	struct event_reader *file;
	struct event_stacks *names;
	struct stream *streams;
	size_t nstreams, room;
	bool cut, damaged;
};

static char *text_take(struct bytes_cursor *c)
{
	size_t len;
	const char *text = bytes_read_text(c, EVENT_TEXT_MAX, &len);

	return text ? text_clean_copy(text, len) : NULL;
}

/* argv from arguments that each end with NUL, and the same joined by spaces, in one piece. */
static bool command_take(struct stream *r, const char *args, size_t len)
{
	struct event_about *a = &r->about;
	size_t count = 0, at = 0;
	char *joined = malloc(2 * len + 2);

	for (size_t i = 0; i < len; i++)
		count += args[i] == '\0';
	r->argv = calloc(count + 1, sizeof(*r->argv));
	r->command = joined;
	if (!r->argv || !joined)
		return false;
	*joined = '\0';
	for (const char *p = args; a->argc < count; p += strlen(p) + 1) {
		char *clean = r->command + len + 1 + at;

		text_clean(clean, strlen(p) + 1, p, strlen(p));
		at += strlen(clean) + 1;
		r->argv[a->argc++] = clean;
	}
	for (unsigned i = 0; i < a->argc; i++)
		joined = stpcpy(stpcpy(joined, i ? " " : ""), r->argv[i]);
	a->argv = r->argv;
	a->command = r->command;
	return true;
}

static int process_read(struct stream *r, struct bytes_cursor *c)
{
	struct event_about *a = &r->about;
	const uint8_t *args;
	size_t len;

	if (r->exe)
		return 0; /* one is enough */
	a->pid = (pid_t)bytes_read_below(c, INT32_MAX);
	a->start_realtime_ns = bytes_read(c);
	a->began_ns = bytes_read(c);
	a->lossless = bytes_read(c) != 0;
	free(text_take(c));
	r->exe = text_take(c);
	len = bytes_read_below(c, EVENT_TEXT_MAX);
	args = bytes_read_piece(c, len);
	if (c->bad)
		return -EPROTO;
	a->exe = r->exe ? r->exe : "";
	return r->exe && command_take(r, (const char *)args, len) ? 0 : -ENOMEM;
}

static int threads_read(struct stream *r, struct bytes_cursor *c)
{
	size_t count = bytes_read_below(c, EVENT_SLOTS_MAX), len;
	const char *name;

	free(r->threads);
	r->threads = calloc(count + 1, sizeof(*r->threads));
	if (!r->threads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct snap_thread *t = &r->threads[i];

		t->slot = (uint32_t)bytes_read_below(c, EVENT_SLOTS_MAX - 1);
		t->tid = (uint32_t)bytes_read(c);
		t->owners = 1;
		name = bytes_read_text(c, EVENT_TEXT_MAX, &len);
		if (name)
			text_clean(t->name, sizeof(t->name), name, len);
	}
	r->about.threads = r->threads;
	r->about.nthreads = c->bad ? 0 : count;
	return 0;
}

static int end_read(struct stream *r, struct bytes_cursor *c)
{
	struct event_about *a = &r->about;

	a->ended_ns = bytes_read(c);
	a->lost = bytes_read(c);
	a->missed_frees = bytes_read(c);
	a->unknown_frees = bytes_read(c);
	a->waits = bytes_read(c);
	a->waited_ns = bytes_read(c);
	a->state = (enum snap_state)bytes_read_below(c, SNAP_COPY);
	a->exit_status = (int)(int64_t)bytes_read_change(c);
	a->signal = (int)bytes_read_below(c, 1024);
	free(r->signal_name);
	r->signal_name = text_take(c);
	a->signal_name = r->signal_name && *r->signal_name ? r->signal_name : NULL;
	a->ended = !c->bad;
	return threads_read(r, c);
}

static struct stream *stream_of(struct event_recording *r, uint32_t number)
{
	struct stream *s;

	if (number < r->nstreams)
		return &r->streams[number];
	if (number > r->nstreams)
		return NULL; /* they begin one after the other */
	s = array_grow(r->streams, r->nstreams, &r->room, sizeof(*s));
	if (!s)
		return NULL;
	r->streams = s;
	s = &r->streams[r->nstreams];
	*s = (struct stream){
		.about = { .state = SNAP_GONE, .exit_status = -1, .exe = "", .command = "" }
	};
	s->stacks = event_stacks_new(r->names);
	if (!s->stacks)
		return NULL;
	r->nstreams++;
	return s;
}

static int block_note(struct stream *s, uint64_t at)
{
	uint64_t *blocks = array_grow(s->blocks, s->nblocks, &s->block_room, sizeof(*blocks));

	if (!blocks)
		return -ENOMEM;
	s->blocks = blocks;
	blocks[s->nblocks++] = at;
	return 0;
}

/* `at`: where the block is. A damaged one is skipped: what it held is missing. */
static int block_read(struct event_recording *r, struct event_file_block *b, uint64_t at)
{
	struct stream *s;

	if (b->kind == EVENT_FILE_NAMES)
		return event_stacks_read_names(r->names, &b->contents);
	s = stream_of(r, b->stream);
	if (!s)
		return -EPROTO;
	switch (b->kind) {
	case EVENT_FILE_PROCESS:
		return process_read(s, &b->contents);
	case EVENT_FILE_SITES:
		return event_stacks_read_sites(s->stacks, &b->contents);
	case EVENT_FILE_END:
		return end_read(s, &b->contents);
	case EVENT_FILE_EVENTS:
		return block_note(s, at);
	case EVENT_FILE_NAMES:
		break;
	}
	return 0;
}

static int all_read(struct event_recording *r)
{
	struct event_file_block b;
	uint64_t at = event_file_tell(r->file);
	int rc, damage;

	for (; (rc = event_file_next(r->file, &b)) == 1; at = event_file_tell(r->file)) {
		damage = block_read(r, &b, at);
		if (damage == -ENOMEM)
			return -ENOMEM;
		r->damaged |= damage != 0;
	}
	r->cut = event_file_is_cut(r->file);
	for (size_t i = 0; i < r->nstreams; i++) {
		r->streams[i].about.cut = r->cut;
		r->streams[i].about.damaged = r->damaged;
		if (event_stacks_end(r->streams[i].stacks) != 0)
			return -ENOMEM;
	}
	if (rc == 0 && r->nstreams == 0)
		rc = -ENODATA;
	return rc;
}

struct event_recording *event_read_open(const char *path, char *message)
{
	struct event_reader *file = event_file_open(path, message);
	struct event_recording *r = file ? calloc(1, sizeof(*r)) : NULL;
	int rc = -ENOMEM;

	if (!file)
		return NULL;
	if (r) {
		r->file = file;
		r->names = event_stacks_new(NULL);
		rc = r->names ? all_read(r) : -ENOMEM;
	}
	if (rc == 0)
		return r;
	snprintf(message, EVENT_FILE_MESSAGE_MAX, "cannot read %s: %s", path,
		rc == -ENODATA ? "it ends before the first event" : strerror(-rc));
	if (r)
		event_read_free(r);
	else
		event_file_free(file);
	return NULL;
}

void event_read_free(struct event_recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nstreams; i++) {
		struct stream *s = &r->streams[i];

		event_stacks_free(s->stacks);
		free(s->exe);
		free(s->command);
		free(s->signal_name);
		free(s->argv);
		free(s->threads);
		free(s->blocks);
	}
	event_stacks_free(r->names);
	event_file_free(r->file);
	free(r->streams);
	free(r);
}

uint32_t event_read_streams(const struct event_recording *r)
{
	return (uint32_t)r->nstreams;
}

const struct event_about *event_read_about(const struct event_recording *r, uint32_t stream)
{
	return &r->streams[stream].about;
}

uint32_t event_read_sites(const struct event_recording *r, uint32_t stream)
{
	return event_stacks_count(r->streams[stream].stacks);
}

uint32_t event_read_site_id(const struct event_recording *r, uint32_t stream, uint32_t index)
{
	return event_stacks_id(r->streams[stream].stacks, index);
}

uint32_t event_read_site_index(const struct event_recording *r, uint32_t stream, uint32_t id)
{
	return event_stacks_index(r->streams[stream].stacks, id);
}

const struct stack *event_read_stack(
	struct event_recording *r, uint32_t stream, uint32_t site, const char **function)
{
	return event_stacks_find(r->streams[stream].stacks, site, function);
}

/* ---- the events ---- */

/* Adds to frees what is known of their blocks. */
struct completing {
	const struct event_sink *sink;
	struct event_blocks live; /* by number + 1 */
	bool failed;
};

static void event_complete(void *ctx, const struct event *from)
{
	struct completing *c = ctx;
	struct event e = *from;
	struct event_block b = { e.number + 1, e.number, e.size, e.tick, e.site, e.slot }, *found;

	if (e.kind == EVENT_ALLOC || e.kind == EVENT_BEFORE) {
		c->failed |= !event_blocks_add(&c->live, &b);
	} else if (e.kind == EVENT_FREE) {
		found = event_blocks_find(&c->live, e.number + 1);
		if (!found)
			return; /* damage: freed twice */
		e.size = found->size;
		e.site = found->site;
		event_blocks_remove(&c->live, found);
	}
	if (!c->failed)
		c->sink->event(c->sink->ctx, &e);
}

int event_read_each(struct event_recording *r, uint32_t stream, const struct event_sink *sink)
{
	struct completing c = { .sink = sink };
	const struct event_sink complete = { &c, event_complete };
	struct stream *s = &r->streams[stream];
	struct event_file_block b;
	uint64_t number = 0;
	int rc = 1;

	for (size_t i = 0; i < s->nblocks && rc == 1 && !c.failed; i++) {
		event_file_seek(r->file, s->blocks[i]);
		rc = event_file_next(r->file, &b);
		if (rc == 1 && event_columns_decode(&b.contents, &number, &complete) != 0)
			rc = 0;
		s->about.damaged |= rc == 0;
	}
	event_blocks_free(&c.live);
	return c.failed || rc == -ENOMEM ? -ENOMEM : 0;
}
