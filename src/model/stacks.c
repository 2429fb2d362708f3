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

static bool names_sites(const struct frame *f)
{
	return !f->hidden && (f->function || f->module->path[0]);
}

/* The frame that names the site. */
static void stacks_title(struct stacks_entry *e)
{
	e->stack.title = 0;
	e->titled = false;
	for (uint32_t i = 0; i < e->stack.nframes && !e->titled; i++) {
		if (names_sites(e->frames[i])) {
			e->stack.title = i;
			e->titled = true;
		}
	}
}

/* The same after the frames from `at` on have changed. */
static void stacks_title_from(struct stacks_entry *e, uint32_t at)
{
	if (e->stack.title >= at || !e->titled)
		stacks_title(e);
}

static int stacks_entry_init(
	struct stacks *s, struct stacks_entry *e, const struct frame *frames, uint32_t nframes)
{
	e->frames = malloc(nframes * sizeof(struct frame *));
	for (uint32_t i = 0; e->frames && i < nframes; i++) {
		const struct stack_place *p = stack_places_get(&s->places, &frames[i]);

		if (!p) {
			free(e->frames);
			e->frames = NULL;
			break;
		}
		e->frames[i] = &p->outer;
		e->pending += frames[i].function == NULL;
	}
	if (!e->frames) {
		memset(e, 0, sizeof(*e));
		return -ENOMEM;
	}
	e->nplaces = nframes;
	e->stack.resolved = e->pending == 0;
	e->stack.shared = e->frames;
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
	rc = stacks_entry_init(s, e, empty ? &unkept : frames, empty ? 1 : nframes);
	if (rc)
		return rc;
	e->alloc_function = alloc_function;
	e->stack.truncated = (missing & SNAP_MISSING_OUTER) != 0;
	e->stack.ancestor = (missing & SNAP_MISSING_INNER) != 0;
	s->position[id] = (uint32_t)++s->count;
	return 0;
}

/*
 * Where a registered frame is now: `at`, and how many frames, the last of which the others are
 * inlined into. 0: there is none.
 */
static uint32_t stacks_span(const struct stacks_entry *e, uint32_t index, uint32_t *at)
{
	uint32_t first = 0;

	if (e->stack.nframes == e->nplaces && index < e->nplaces) {
		*at = index; /* nothing is inlined yet */
		return 1;
	}
	for (uint32_t i = 0; i < e->stack.nframes; i++) {
		if (e->frames[i]->inlined)
			continue;
		if (index-- == 0) {
			*at = first;
			return i - first + 1;
		}
		first = i + 1;
	}
	return 0;
}

/* Replaces the inlined frames before a place by those that it has now. */
static int stacks_splice(
	struct stacks_entry *e, uint32_t at, uint32_t was, const struct stack_place *p)
{
	uint32_t now = p->ninlined + 1, total = e->stack.nframes - was + now,
		 tail = e->stack.nframes - at - was;
	const struct frame **grown = e->frames;

	if (now > was) {
		grown = realloc(e->frames, total * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		e->stack.shared = e->frames = grown;
	}
	if (now != was)
		memmove(grown + at + now, grown + at + was, tail * sizeof(*grown));
	for (uint32_t i = 0; i < p->ninlined; i++)
		grown[at + i] = &p->inlined[i];
	grown[at + p->ninlined] = &p->outer;
	e->stack.nframes = total;
	return 0;
}

/* One more of its frames is resolved; a place that was resolved again does not count twice. */
static void stacks_pending_note(struct stacks_entry *e)
{
	if (e->pending == 0 || --e->pending > 0)
		return;
	for (uint32_t i = 0; i < e->stack.nframes; i++)
		if (!e->frames[i]->inlined)
			e->pending += !((const struct stack_place *)e->frames[i])->resolved;
	e->stack.resolved = e->pending == 0;
}

/* The frame's place, and where it is now as in stacks_span. NULL: there is no such frame. */
static struct stack_place *place_find(
	const struct stacks_entry *e, uint32_t index, uint32_t *at, uint32_t *was)
{
	*was = stacks_span(e, index, at);
	return *was ? (struct stack_place *)(uintptr_t)e->frames[*at + *was - 1] : NULL;
}

static struct stacks_entry *entry_find(const struct stacks *s, uint32_t id)
{
	long position = stacks_find(s, id);

	return position < 0 ? NULL : stacks_at(s, (size_t)position);
}

struct stack_place *stacks_place(const struct stacks *s, uint32_t id, uint32_t index)
{
	const struct stacks_entry *e = entry_find(s, id);
	uint32_t at, was;

	return e ? place_find(e, index, &at, &was) : NULL;
}

int stacks_resolve(
	struct stacks *s, uint32_t id, uint32_t index, const struct frame *frames, uint32_t nframes)
{
	struct stacks_entry *e = entry_find(s, id);
	struct stack_place *p;
	uint32_t at, was;
	int rc;

	if (!e)
		return -ENOENT;
	p = place_find(e, index, &at, &was);
	if (!p || nframes == 0 || nframes > UINT16_MAX)
		return -EINVAL;
	rc = stack_places_resolve(&s->places, p, frames, nframes);
	if (!rc)
		rc = stacks_splice(e, at, was, p);
	if (rc)
		return rc;
	stacks_pending_note(e);
	stacks_title_from(e, at);
	return 0;
}

/* Each address is in many stacks, and their frames are all over memory: where nothing is inlined,
 * none of them is read. */
int stacks_resolve_at(struct stacks *s, uint32_t id, uint32_t index, const struct stack_place *p)
{
	struct stacks_entry *e = entry_find(s, id);
	uint32_t at = index, was;
	int rc;

	if (!e)
		return -ENOENT;
	if (p->ninlined || e->stack.nframes != e->nplaces) {
		if (place_find(e, index, &at, &was) != p)
			return -EINVAL;
		rc = stacks_splice(e, at, was, p);
		if (rc)
			return rc;
	} else if (index >= e->nplaces) {
		return -EINVAL;
	}
	stacks_pending_note(e);
	stacks_title_from(e, at);
	return 0;
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
	free(s->position);
	stack_places_free(&s->places);
}
