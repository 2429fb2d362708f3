/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded call stacks (stack_read.h). Main thread. */
#include "src/record/stack_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/record/stack_write.h"
#include "src/record/state.h"
#include "src/util/array.h"

#define TEXT_MAX   (64u << 10) /* bytes of a C++ name that is still read */
#define FRAMES_MAX 65535u /* of a stack, as the model has */
#define DEPTH_MAX  4096u /* frames with an address; recorders keep 1024 at most */

/* Frame arrays that may be built: a site with a call stack of its own takes 7 bytes of a payload or
 * more, and 8 KB if it has 1,024 frames. */
#define FRAMES_FREE  ((uint64_t)64 << 20)
#define FRAMES_RATIO 1200u
#define SHORT_PLACES 16u /* frames of a call stack for which there is no more room */

struct stack_module {
	struct snap_module snap;
	uint64_t bias; /* of its last place */
};

struct stack_place {
	const struct snap_module *module;
	uint64_t pc, offset;
	bool hidden;
	/* In the arena, for all stacks that go through it: frames with names, or one without;
	 * NULL: not made yet. */
	struct frame *frames;
	uint32_t nframes;
};

struct stack_node {
	uint32_t parent, place;
	uint32_t depth; /* frames with an address from here outwards */
};

struct stack_site {
	uint32_t leaf;
	uint32_t alloc_function; /* number of its text; 0: malloc */
	struct stack *stack; /* in the arena; NULL: not built yet */
	uint8_t flags;
};

/* ---- reading the tables ---- */

/* How many items follow, each of which takes a byte or more. */
static uint64_t count_read(struct bytes_cursor *c)
{
	return bytes_read_below(c, (uint64_t)(c->end - c->at));
}

static int texts_read(struct stack_read *r, struct bytes_cursor *c)
{
	uint64_t n = count_read(c);
	const char *text, **texts;
	size_t len;

	for (uint64_t i = 0; i < n; i++) {
		text = bytes_read_text(c, TEXT_MAX, &len);
		if (!text)
			return -EBADMSG;
		texts = array_grow(r->text, r->texts + 1, &r->text_room, sizeof(*texts));
		if (!texts)
			return -ENOMEM;
		r->text = texts;
		texts[r->texts + 1] = arena_text(&r->arena, text, len);
		if (!texts[r->texts + 1])
			return -ENOMEM;
		r->texts++;
	}
	return 0;
}

/* The text of a number; 0 gives `none`. */
static const char *text_read(struct stack_read *r, struct bytes_cursor *c, const char *none)
{
	uint64_t n = bytes_read_below(c, r->texts);

	return n ? r->text[n] : none;
}

static int modules_read(struct stack_read *r, struct bytes_cursor *c, struct stack_limits *most)
{
	uint64_t n = count_read(c);

	if (n > most->modules)
		return -EBADMSG;
	most->modules -= n;
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct stack_module *m = arena_alloc(&r->arena, sizeof(*m)), **modules;
		const char *slash;

		modules = array_grow(r->module, r->modules + 1, &r->module_room, sizeof(m));
		if (modules)
			r->module = modules;
		if (!m || !modules)
			return -ENOMEM;
		m->snap.path = text_read(r, c, "");
		m->snap.build_id = text_read(r, c, "");
		slash = strrchr(m->snap.path, '/');
		m->snap.name = slash ? slash + 1 : m->snap.path;
		modules[++r->modules] = m;
	}
	return c->bad ? -EBADMSG : 0;
}

static int places_read(struct stack_read *r, struct bytes_cursor *c)
{
	uint64_t n = count_read(c);

	for (uint64_t i = 0; i < n; i++) {
		struct stack_place *places, *p;
		struct stack_module *m;
		uint64_t module = bytes_read_below(c, r->modules);

		places = array_grow(r->place, r->places + 1, &r->place_room, sizeof(*places));
		if (!places)
			return -ENOMEM;
		r->place = places;
		if (c->bad || module == 0)
			return -EBADMSG;
		p = &places[r->places + 1];
		m = r->module[module];
		*p = (struct stack_place){ .module = &m->snap, .pc = bytes_read(c) };
		m->bias += bytes_read_change(c);
		p->offset = p->pc - m->bias;
		p->hidden = (bytes_read(c) & STACK_HIDDEN_PLACE) != 0;
		if (c->bad)
			return -EBADMSG;
		r->places++;
	}
	return 0;
}

static int nodes_read(struct stack_read *r, struct bytes_cursor *c)
{
	uint64_t n = count_read(c);

	for (uint64_t i = 0; i < n; i++) {
		struct stack_node *nodes, *node;
		uint64_t distance = bytes_read_below(c, r->nodes);

		nodes = array_grow(r->node, r->nodes + 1, &r->node_room, sizeof(*nodes));
		if (!nodes)
			return -ENOMEM;
		r->node = nodes;
		node = &nodes[r->nodes + 1];
		*node = (struct stack_node){ .place = (uint32_t)bytes_read_below(c, r->places),
			.depth = 1 };
		if (distance) {
			node->parent = (uint32_t)(r->nodes + 1 - distance);
			node->depth = nodes[node->parent].depth + 1;
		}
		if (c->bad || node->place == 0 || node->depth > DEPTH_MAX)
			return -EBADMSG;
		r->nodes++;
	}
	return 0;
}

/* The first one of an id stays: it may be in use. 0 or -ENOMEM. */
static int site_add(struct stack_read *r, uint32_t id, const struct stack_site *site)
{
	uint32_t *at = number_table_reach(&r->positions, id);
	struct stack_site *sites =
		at ? array_grow(r->site, r->sites, &r->site_room, sizeof(*sites)) : NULL;

	if (!sites)
		return -ENOMEM;
	r->site = sites;
	if (*at)
		return 0;
	sites[r->sites++] = *site;
	*at = (uint32_t)r->sites;
	return 0;
}

static int sites_read(struct stack_read *r, struct bytes_cursor *c)
{
	uint64_t n = count_read(c), id = 0, leaf = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct stack_site site = { 0 };

		id += bytes_read_change(c);
		site.alloc_function = (uint32_t)bytes_read_below(c, r->texts);
		leaf += bytes_read_change(c);
		site.leaf = (uint32_t)leaf;
		site.flags = (uint8_t)bytes_read(c);
		if (c->bad || id >= STATE_SITES_MAX || leaf == 0 || leaf > r->nodes)
			return -EBADMSG;
		if (site_add(r, (uint32_t)id, &site) != 0)
			return -ENOMEM;
	}
	return c->at == c->end ? 0 : -EBADMSG;
}

int stack_read_sites(struct stack_read *r, const struct bytes *raw, struct stack_limits *most)
{
	struct bytes_cursor c = bytes_begin(raw);
	int rc = texts_read(r, &c);

	most->payload_bytes += raw->len;
	if (!rc)
		rc = modules_read(r, &c, most);
	if (!rc)
		rc = places_read(r, &c);
	if (!rc)
		rc = nodes_read(r, &c);
	return rc ? rc : sites_read(r, &c);
}

/* ---- names ---- */

static void frame_read(struct stack_read *r, struct bytes_cursor *c, struct frame *f)
{
	uint64_t flags;

	f->function = text_read(r, c, NULL);
	f->mangled = text_read(r, c, NULL);
	f->file = text_read(r, c, NULL);
	f->line = (uint32_t)bytes_read_below(c, UINT32_MAX);
	flags = bytes_read(c);
	f->inlined = (flags & STACK_INLINED) != 0;
	f->hidden = (flags & STACK_HIDDEN) != 0;
}

static int place_names_read(struct stack_read *r, struct bytes_cursor *c)
{
	uint64_t place = bytes_read_below(c, r->places), n = count_read(c);
	struct stack_place *p;
	struct frame *frames;

	if (c->bad || place == 0 || n == 0)
		return -EBADMSG;
	p = &r->place[place];
	frames = arena_alloc(&r->arena, n * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		frames[i].module = p->module;
		frame_read(r, c, &frames[i]);
		frames[i].inlined |= i + 1 < n;
	}
	if (c->bad)
		return -EBADMSG;
	frames[n - 1].inlined = false;
	frames[n - 1].pc = p->pc;
	frames[n - 1].offset = p->offset;
	p->frames = frames;
	p->nframes = (uint32_t)n;
	return 0;
}

int stack_read_names(struct stack_read *r, const struct bytes *raw)
{
	struct bytes_cursor c = bytes_begin(raw);
	int rc = texts_read(r, &c);
	uint64_t n = rc ? 0 : count_read(&c);

	for (uint64_t i = 0; rc == 0 && i < n; i++)
		rc = place_names_read(r, &c);
	return rc ? rc : c.bad || c.at != c.end ? -EBADMSG : 0;
}

/* ---- building ---- */

/* The same rule as the model's (src/model/stacks.c). */
static uint32_t title_of(const struct stack *s)
{
	for (uint32_t i = 0; i < s->nframes; i++) {
		const struct frame *f = snapshot_frame(s, i);

		if (!f->hidden && (f->function || f->module->path[0]))
			return i;
	}
	return 0;
}

static uint64_t frames_of(const struct stack_read *r, uint32_t leaf)
{
	uint64_t count = 0;

	for (uint32_t node = leaf; node; node = r->node[node].parent) {
		const struct stack_place *p = &r->place[r->node[node].place];

		count += p->frames ? p->nframes : 1;
	}
	return count;
}

/* A place without names has one frame all the same. */
static int place_frame_make(struct stack_read *r, struct stack_place *p)
{
	if (p->frames)
		return 0;
	p->frames = arena_alloc(&r->arena, sizeof(*p->frames));
	if (!p->frames)
		return -ENOMEM;
	p->frames[0] = (struct frame){
		.pc = p->pc, .offset = p->offset, .module = p->module, .hidden = p->hidden
	};
	p->nframes = 1;
	return 0;
}

/* The frames of a whole stack, or of a short one: that with an address of each place, without what
 * was inlined there. */
static int frames_fill(
	struct stack_read *r, uint32_t leaf, uint64_t count, bool whole, const struct frame **out)
{
	const struct frame **end = out + count;

	for (uint32_t node = leaf; node && out < end; node = r->node[node].parent) {
		struct stack_place *p = &r->place[r->node[node].place];

		if (place_frame_make(r, p) != 0)
			return -ENOMEM;
		for (uint32_t i = whole ? 0 : p->nframes - 1; i < p->nframes; i++)
			*out++ = &p->frames[i];
	}
	return 0;
}

/* Whether there is room for so many frames more, which is then taken. */
static bool frames_take(struct stack_limits *l, uint64_t frames)
{
	uint64_t most = FRAMES_FREE + FRAMES_RATIO * l->payload_bytes;
	uint64_t bytes = frames * sizeof(struct frame *);

	if (most > l->frame_bytes_most)
		most = l->frame_bytes_most;
	if (bytes > most || l->frame_bytes > most - bytes)
		return false;
	l->frame_bytes += bytes;
	return true;
}

static uint64_t short_frames(const struct stack_read *r, uint32_t leaf)
{
	uint32_t depth = r->node[leaf].depth;

	return depth < SHORT_PLACES ? depth : SHORT_PLACES;
}

static struct stack *stack_build(
	struct stack_read *r, const struct stack_site *site, struct stack_limits *limits)
{
	uint64_t n = frames_of(r, site->leaf);
	struct stack *s;
	const struct frame **frames;
	bool whole;

	/* Names with more inlined frames than any compiler makes are not from us. */
	if (n > FRAMES_MAX)
		return NULL;
	whole = frames_take(limits, n);
	if (!whole)
		n = short_frames(r, site->leaf);
	s = arena_alloc(&r->arena, sizeof(*s) + n * sizeof(struct frame *));
	if (!s)
		return NULL;
	frames = (const struct frame **)(s + 1);
	if (frames_fill(r, site->leaf, n, whole, frames) != 0)
		return NULL;
	*s = (struct stack){ .shared = frames,
		.nframes = (uint32_t)n,
		.truncated = !whole || (site->flags & STACK_MISSING_OUTER) != 0,
		.ancestor = (site->flags & STACK_MISSING_INNER) != 0,
		.resolved = true };
	s->title = title_of(s);
	return s;
}

static enum snap_kind kind_of(uint8_t flags)
{
	unsigned kind = flags >> STACK_KIND_SHIFT & STACK_KIND_BITS;

	return kind <= SNAP_POOL ? (enum snap_kind)kind : SNAP_HEAP;
}

bool stack_read_get(
	struct stack_read *r, uint32_t id, struct stack_limits *limits, struct snap_site *out)
{
	uint32_t at = number_table_get(&r->positions, id);
	struct stack_site *site = at ? &r->site[at - 1] : NULL;

	if (!site)
		return false;
	if (!site->stack)
		site->stack = stack_build(r, site, limits);
	out->stack = site->stack;
	out->alloc_function = site->alloc_function ? r->text[site->alloc_function] : "malloc";
	out->kind = kind_of(site->flags);
	return site->stack != NULL;
}

void stack_read_free(struct stack_read *r)
{
	arena_free(&r->arena);
	free(r->text);
	free(r->module);
	free(r->place);
	free(r->node);
	free(r->site);
	number_table_free(&r->positions);
	*r = (struct stack_read){ 0 };
}
