/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a session's sites, for model.c, on the main thread. Ids are the segment's site
 * numbers, which are dense, so an array finds them. Entries are in chunks that never move, because
 * snapshots hold pointers to them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "shm/layout.h"
#include "src/model/stacks.h"

#define STACKS_CHUNK 256u /* entries: about 20 KB, below malloc's mmap threshold */

static const struct snap_module stacks_nowhere = { .path = "", .name = "", .build_id = "" };

struct stacks_entry *stacks_at(const struct stacks *s, size_t position)
{
	return &s->chunks[position / STACKS_CHUNK][position % STACKS_CHUNK];
}

long stacks_find(const struct stacks *s, uint32_t id)
{
	return id < s->ids ? (long)s->position[id] - 1 : -1;
}

/* Extends the index to `id`. */
static int stacks_index_grow(struct stacks *s, uint32_t id)
{
	size_t ids = s->ids ? s->ids : 1024;
	uint32_t *position;

	if (id < s->ids)
		return 0;
	while (ids <= id)
		ids *= 2;
	position = realloc(s->position, ids * sizeof(*position));
	if (!position)
		return -ENOMEM;
	memset(position + s->ids, 0, (ids - s->ids) * sizeof(*position));
	s->position = position;
	s->ids = ids;
	return 0;
}

static int stacks_chunk_grow(struct stacks *s)
{
	struct stacks_entry **chunks;

	if (s->count < s->nchunks * STACKS_CHUNK)
		return 0;
	chunks = realloc(s->chunks, (s->nchunks + 1) * sizeof(struct stacks_entry *));
	if (!chunks)
		return -ENOMEM;
	s->chunks = chunks;
	chunks[s->nchunks] = calloc(STACKS_CHUNK, sizeof(struct stacks_entry));
	if (!chunks[s->nchunks])
		return -ENOMEM;
	s->nchunks++;
	return 0;
}

static void stacks_copy(struct frame *to, const struct frame *from, uint32_t n)
{
	memcpy(to, from, n * sizeof(*to));
	for (uint32_t i = 0; i < n; i++) {
		if (!to[i].module)
			to[i].module = &stacks_nowhere;
	}
}

static bool names_sites(const struct frame *f)
{
	return !f->hidden && (f->function || f->module->path[0]);
}

/* The frame that names the site. */
static void stacks_title(struct stacks_entry *e)
{
	e->stack.title = 0;
	for (uint32_t i = 0; i < e->stack.nframes; i++) {
		if (names_sites(&e->frames[i])) {
			e->stack.title = i;
			return;
		}
	}
}

/* The same after the frames from `at` on have changed. */
static void stacks_title_from(struct stacks_entry *e, uint32_t at)
{
	if (e->stack.title >= at || !names_sites(&e->frames[e->stack.title]))
		stacks_title(e);
}

static int stacks_entry_init(struct stacks_entry *e, const struct frame *frames, uint32_t nframes)
{
	e->frames = malloc(nframes * sizeof(*e->frames));
	e->spans = malloc(nframes * sizeof(*e->spans));
	if (!e->frames || !e->spans) {
		free(e->frames);
		free(e->spans);
		memset(e, 0, sizeof(*e));
		return -ENOMEM;
	}
	stacks_copy(e->frames, frames, nframes);
	e->nspans = nframes;
	for (uint32_t i = 0; i < nframes; i++) {
		e->spans[i] =
			(struct stacks_span){ .frames = 1, .resolved = frames[i].function != NULL };
		e->pending += !e->spans[i].resolved;
	}
	e->stack.resolved = e->pending == 0;
	e->stack.frames = e->frames;
	e->stack.nframes = nframes;
	stacks_title(e);
	return 0;
}

int stacks_add(struct stacks *s, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, unsigned missing)
{
	/* A site without a stack (the catch-all) still needs a name. */
	static const struct frame unkept = { .function = "(stack not recorded)" };
	struct stacks_entry *e;
	bool empty = nframes == 0;
	int rc;

	if (id >= HT_SITES_MAX || nframes > UINT16_MAX)
		return -EINVAL;
	if (stacks_find(s, id) >= 0)
		return -EEXIST;
	rc = stacks_index_grow(s, id);
	if (!rc)
		rc = stacks_chunk_grow(s);
	if (rc)
		return rc;
	e = stacks_at(s, s->count);
	rc = stacks_entry_init(e, empty ? &unkept : frames, empty ? 1 : nframes);
	if (rc)
		return rc;
	e->alloc_function = alloc_function;
	e->stack.truncated = (missing & SNAP_MISSING_OUTER) != 0;
	e->stack.ancestor = (missing & SNAP_MISSING_INNER) != 0;
	s->position[id] = (uint32_t)++s->count;
	return 0;
}

/* Replaces `was` frames at `at` by `now` others; moves the frames after them. */
static int stacks_splice(
	struct stacks_entry *e, uint32_t at, uint32_t was, const struct frame *frames, uint32_t now)
{
	uint32_t total = e->stack.nframes - was + now, tail = e->stack.nframes - at - was;
	struct frame *grown = e->frames;

	if (now > was) {
		grown = realloc(e->frames, total * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		e->stack.frames = e->frames = grown;
	}
	if (now != was)
		memmove(grown + at + now, grown + at + was, tail * sizeof(*grown));
	stacks_copy(grown + at, frames, now);
	e->stack.nframes = total;
	return 0;
}

/* Where the frames of a span begin. */
static uint32_t stacks_span_start(const struct stacks_entry *e, uint32_t index)
{
	uint32_t at = 0;

	if (e->stack.nframes == e->nspans)
		return index; /* one frame each: nothing is inlined yet */
	for (uint32_t i = 0; i < index; i++)
		at += e->spans[i].frames;
	return at;
}

int stacks_resolve(
	struct stacks *s, uint32_t id, uint32_t index, const struct frame *frames, uint32_t nframes)
{
	long position = stacks_find(s, id);
	struct stacks_entry *e;
	uint32_t at;
	int rc;

	if (position < 0)
		return -ENOENT;
	e = stacks_at(s, (size_t)position);
	if (index >= e->nspans || nframes == 0 || nframes > UINT16_MAX)
		return -EINVAL;
	at = stacks_span_start(e, index);
	rc = stacks_splice(e, at, e->spans[index].frames, frames, nframes);
	if (rc)
		return rc;
	e->spans[index].frames = (uint16_t)nframes;
	if (!e->spans[index].resolved)
		e->pending--;
	e->spans[index].resolved = true;
	e->stack.resolved = e->pending == 0;
	stacks_title_from(e, at);
	return 0;
}

void stacks_hide_again(struct stacks *s, bool (*hidden)(const struct frame *f))
{
	for (size_t i = 0; i < s->count; i++) {
		struct stacks_entry *e = stacks_at(s, i);

		for (uint32_t k = 0; k < e->stack.nframes; k++)
			if (e->frames[k].function)
				e->frames[k].hidden = hidden(&e->frames[k]);
		stacks_title(e);
	}
}

void stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(stacks_at(s, i)->frames);
		free(stacks_at(s, i)->spans);
	}
	for (size_t i = 0; i < s->nchunks; i++)
		free(s->chunks[i]);
	free(s->chunks);
	free(s->position);
}
