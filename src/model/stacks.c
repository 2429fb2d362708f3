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
#include "src/util/array.h"

#define STACKS_CHUNK 256u /* entries: about 20 KB, below malloc's mmap threshold */

struct stacks_entry *stacks_at(const struct stacks *s, size_t position)
{
	return &s->chunks[position / STACKS_CHUNK][position % STACKS_CHUNK];
}

/* The number of an id in its index. */
static uint32_t number_of(uint32_t id)
{
	return snapshot_is_inherited(id) ? id - SNAP_INHERITED_FIRST : id;
}

long stacks_find(const struct stacks *s, uint32_t id)
{
	const struct stacks_index *index = snapshot_is_inherited(id) ? &s->inherited : &s->own;
	uint32_t number = number_of(id);

	return number < index->ids ? (long)index->position[number] - 1 : -1;
}

/* Extends an index to `number`. */
static int stacks_index_grow(struct stacks_index *index, uint32_t number)
{
	size_t ids = index->ids ? index->ids : 1024;
	uint32_t *position;

	if (number < index->ids)
		return 0;
	while (ids <= number)
		ids *= 2;
	position = realloc(index->position, ids * sizeof(*position));
	if (!position)
		return -ENOMEM;
	memset(position + index->ids, 0, (ids - index->ids) * sizeof(*position));
	index->position = position;
	index->ids = ids;
	return 0;
}

static int stacks_chunk_grow(struct stacks *s)
{
	struct stacks_entry **chunks;

	if (s->count < s->nchunks * STACKS_CHUNK)
		return 0;
	chunks = array_grow(s->chunks, s->nchunks, &s->chunks_room, sizeof(struct stacks_entry *));
	if (!chunks)
		return -ENOMEM;
	s->chunks = chunks;
	chunks[s->nchunks] = calloc(STACKS_CHUNK, sizeof(struct stacks_entry));
	if (!chunks[s->nchunks])
		return -ENOMEM;
	s->nchunks++;
	return 0;
}

/* The frame that names the site; the first one if none does. */
static void stacks_title(struct stacks_entry *e)
{
	e->stack.title = 0;
	for (uint32_t i = 0; i < e->stack.nframes; i++) {
		if (snapshot_frame_names(e->frames[i])) {
			e->stack.title = i;
			return;
		}
	}
}

/* ---- what is inlined at the places of a stack ---- */

static struct stack_place *place_of(const struct frame *outer)
{
	return (struct stack_place *)(uintptr_t)outer;
}

/* The same stack with the frames, `total`, that are inlined at its places now. */
static int stacks_inline(struct stacks_entry *e, uint32_t total)
{
	const struct frame **frames = malloc(total * sizeof(*frames));
	uint32_t n = 0;

	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->stack.nframes; i++) {
		const struct stack_place *p = place_of(e->frames[i]);

		if (e->frames[i]->inlined)
			continue;
		for (uint32_t k = 0; k < p->ninlined; k++)
			frames[n++] = &p->inlined[k];
		frames[n++] = &p->outer;
	}
	free(e->frames);
	e->stack.shared = e->frames = frames;
	e->stack.nframes = total;
	return 0;
}

/* Brings a stack in line with what its places have been resolved to since. */
static int stacks_entry_settle(struct stacks_entry *e)
{
	uint32_t total = 0, pending = 0, inlined = 0;
	bool changed = false;

	for (uint32_t i = 0; i < e->stack.nframes; i++) {
		const struct stack_place *p = place_of(e->frames[i]);

		if (e->frames[i]->inlined) {
			inlined++;
			continue;
		}
		changed |= p->ninlined != inlined ||
			   (inlined > 0 && e->frames[i - inlined] != p->inlined);
		total += p->ninlined + 1;
		pending += !p->resolved;
		inlined = 0;
	}
	if (changed && stacks_inline(e, total) != 0)
		return -ENOMEM;
	e->pending = pending;
	e->stack.resolved = pending == 0;
	stacks_title(e);
	return 0;
}

int stacks_settle(struct stacks *s)
{
	size_t left = 0;
	int rc = 0;

	for (size_t i = 0; i < s->nwaiting; i++) {
		struct stacks_entry *e = stacks_at(s, s->waiting[i]);

		if (stacks_entry_settle(e) != 0)
			rc = -ENOMEM;
		if (e->pending > 0)
			s->waiting[left++] = s->waiting[i];
	}
	s->nwaiting = left;
	return rc;
}

/* ---- adding ---- */

static int stacks_entry_init(
	struct stacks *s, struct stacks_entry *e, const struct frame *frames, uint32_t nframes)
{
	e->frames = malloc(nframes * sizeof(struct frame *));
	for (uint32_t i = 0; e->frames && i < nframes; i++) {
		const struct stack_place *p = stack_places_get(&s->places, &frames[i]);

		if (!p)
			return -ENOMEM;
		e->frames[i] = &p->outer;
	}
	if (!e->frames)
		return -ENOMEM;
	e->stack.shared = e->frames;
	e->stack.nframes = nframes;
	return stacks_entry_settle(e);
}

/* The newest stack's names are on their way. */
static int stacks_wait(struct stacks *s)
{
	uint32_t *waiting = array_grow(s->waiting, s->nwaiting, &s->waiting_room, sizeof(*waiting));

	if (!waiting)
		return -ENOMEM;
	s->waiting = waiting;
	waiting[s->nwaiting++] = (uint32_t)s->count;
	return 0;
}

int stacks_add(struct stacks *s, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, unsigned missing)
{
	/* A site without a stack (the catch-all) still needs a name. */
	static const struct frame unkept = { .function = "(stack not recorded)" };
	struct stacks_index *index = snapshot_is_inherited(id) ? &s->inherited : &s->own;
	struct stacks_entry *e;
	bool empty = nframes == 0;
	int rc;

	static_assert(SNAP_INHERITED_FIRST == HT_SITES_MAX, "no segment has these ids");
	if (id >= SNAP_INHERITED_FIRST + SNAP_INHERITED_MAX || nframes > UINT16_MAX)
		return -EINVAL;
	if (stacks_find(s, id) >= 0)
		return -EEXIST;
	rc = stacks_index_grow(index, number_of(id));
	if (!rc)
		rc = stacks_chunk_grow(s);
	if (rc)
		return rc;
	e = stacks_at(s, s->count);
	rc = stacks_entry_init(s, e, empty ? &unkept : frames, empty ? 1 : nframes);
	if (!rc && e->pending > 0)
		rc = stacks_wait(s);
	if (rc) {
		free(e->frames);
		memset(e, 0, sizeof(*e));
		return rc;
	}
	e->alloc_function = alloc_function;
	e->stack.truncated = (missing & SNAP_MISSING_OUTER) != 0;
	e->stack.ancestor = (missing & SNAP_MISSING_INNER) != 0;
	index->position[number_of(id)] = (uint32_t)++s->count;
	return 0;
}

static struct stacks_entry *entry_find(const struct stacks *s, uint32_t id)
{
	long position = stacks_find(s, id);

	return position < 0 ? NULL : stacks_at(s, (size_t)position);
}

uint32_t stacks_places_of(
	const struct stacks *s, uint32_t id, struct stack_place **places, uint32_t most)
{
	const struct stacks_entry *e = entry_find(s, id);
	uint32_t n = 0;

	for (uint32_t i = 0; e && i < e->stack.nframes && n < most; i++)
		if (!e->frames[i]->inlined)
			places[n++] = place_of(e->frames[i]);
	return n;
}

void stacks_hide_again(struct stacks *s, bool (*hidden)(const struct frame *f))
{
	stack_places_hide_again(&s->places, hidden);
	for (size_t i = 0; i < s->count; i++)
		stacks_title(stacks_at(s, i));
}

void stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(stacks_at(s, i)->frames);
	for (size_t i = 0; i < s->nchunks; i++)
		free(s->chunks[i]);
	free(s->chunks);
	free(s->own.position);
	free(s->inherited.position);
	free(s->waiting);
	stack_places_free(&s->places);
}
