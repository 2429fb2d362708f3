/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contents of a recording's blocks (event_write.h). One thread at a time. */
#include "src/record/event_write.h"

#include <stdlib.h>
#include <string.h>

#include "src/record/event_tags.h"

void event_write_process(struct event_writer *w, uint32_t stream, const struct event_process *p)
{
	struct bytes out = { 0 };

	bytes_number(&out, (uint64_t)p->pid);
	bytes_number(&out, p->start_realtime_ns);
	bytes_number(&out, p->began_ns);
	bytes_number(&out, p->lossless);
	bytes_add_text(&out, p->version);
	bytes_add_text(&out, p->exe);
	bytes_number(&out, p->command_bytes);
	bytes_add(&out, p->command, p->command_bytes);
	event_file_put(w, EVENT_FILE_PROCESS, stream, &out);
	bytes_free(&out);
}

void event_write_module(struct bytes *out, const struct event_module *m)
{
	bytes_number(out, EVENT_TAG_MODULE);
	bytes_number(out, m->number);
	bytes_add_text(out, m->path);
	bytes_add_text(out, m->build_id);
	bytes_number(out, m->bias);
}

void event_write_site(struct bytes *out, uint32_t site, const char *function, unsigned missing,
	const struct event_frame *frames, size_t nframes)
{
	uint64_t pc = 0;

	bytes_number(out, EVENT_TAG_SITE);
	bytes_number(out, site);
	bytes_add_text(out, function);
	bytes_number(out, missing);
	bytes_number(out, nframes);
	for (size_t i = 0; i < nframes; i++) {
		bytes_number(out, frames[i].module);
		bytes_change(out, frames[i].pc - pc);
		pc = frames[i].pc;
	}
}

void event_write_events(struct event_writer *w, uint32_t stream, struct event_columns *c)
{
	struct bytes out = { 0 };

	if (c->count == 0)
		return;
	event_columns_take(c, &out);
	event_file_put(w, EVENT_FILE_EVENTS, stream, &out);
	bytes_free(&out);
}

/* ---- names ---- */

/* A name for all frames at one place: the inlined ones, and the one they are inlined into, last. */
static void place_write(
	struct bytes *out, const struct stack *stack, uint32_t first, uint32_t count)
{
	const struct frame *last = snapshot_frame(stack, first + count - 1);

	bytes_add_text(out, last->module->path);
	bytes_number(out, last->offset);
	bytes_number(out, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct frame *f = snapshot_frame(stack, first + i);

		bytes_add_text(out, f->function);
		bytes_add_text(out, f->mangled);
		bytes_add_text(out, f->file);
		bytes_number(out, f->line);
		bytes_number(out, f->hidden);
	}
}

static uint64_t place_key(const struct frame *f)
{
	uint64_t key = (uint64_t)(uintptr_t)f->module * 0x9e3779b97f4a7c15ull ^ f->offset;

	return key ? key : 1;
}

/* Writes the places of a stack that are not in `done`. */
static void stack_write(struct bytes *out, const struct stack *stack, struct event_blocks *done)
{
	for (uint32_t first = 0, i = 0; i < stack->nframes; i++) {
		struct event_block key = { .key = place_key(snapshot_frame(stack, i)) };

		if (snapshot_frame(stack, i)->inlined)
			continue;
		if (!event_blocks_find(done, key.key) && event_blocks_add(done, &key))
			place_write(out, stack, first, i + 1 - first);
		first = i + 1;
	}
}

void event_names_begin(struct event_names *n, struct event_writer *w)
{
	*n = (struct event_names){ .writer = w };
}

void event_names_add(struct event_names *n, const struct stack *s)
{
	stack_write(&n->out, s, &n->done);
	if (n->out.len >= EVENT_FILE_BLOCK)
		event_file_put(n->writer, EVENT_FILE_NAMES, 0, &n->out);
}

void event_names_end(struct event_names *n)
{
	if (n->out.len > 0)
		event_file_put(n->writer, EVENT_FILE_NAMES, 0, &n->out);
	bytes_free(&n->out);
	event_blocks_free(&n->done);
}

void event_write_end(struct event_writer *w, uint32_t stream, const struct snapshot *s,
	const struct event_end *end)
{
	struct bytes out = { 0 };

	bytes_number(&out, s ? s->uptime_ns : end->ended_ns);
	bytes_number(&out, end->lost);
	bytes_number(&out, end->missed_frees);
	bytes_number(&out, end->unknown_frees);
	bytes_number(&out, end->waits);
	bytes_number(&out, end->waited_ns);
	bytes_number(&out, s ? s->state : SNAP_GONE);
	bytes_change(&out, s ? (uint64_t)(int64_t)s->exit_status : 0);
	bytes_number(&out, s ? (uint64_t)s->signal : 0);
	bytes_add_text(&out, s ? s->signal_name : NULL);
	bytes_number(&out, s ? s->nthreads : 0);
	for (size_t i = 0; s && i < s->nthreads; i++) {
		bytes_number(&out, s->threads[i].slot);
		bytes_number(&out, s->threads[i].tid);
		bytes_add_text(&out, s->threads[i].name);
	}
	event_file_put(w, EVENT_FILE_END, stream, &out);
	bytes_free(&out);
}
