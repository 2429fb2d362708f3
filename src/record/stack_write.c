/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call stacks and names of a stream as blocks (stack_write.h). Main thread. */
#include "src/record/stack_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/record/block.h"
#include "src/record/state.h"

/* What is written of a site. */
#define SITE_STACK 1u
#define SITE_NAMES 2u

/* Grows an array of zeros by index. 0 or -ENOMEM. */
static int flags_room(uint8_t **flags, uint32_t *room, uint32_t index)
{
	uint64_t now = *room ? *room : 256;
	uint8_t *p;

	if (index < *room)
		return 0;
	while (now <= index)
		now += now / 2;
	p = realloc(*flags, now);
	if (!p)
		return -ENOMEM;
	memset(p + *room, 0, now - *room);
	*flags = p;
	*room = (uint32_t)now;
	return 0;
}

/* ---- numbers of texts, modules, places, nodes: from 1; 0: none; negative: no memory ---- */

/* From 0. */
static long number_of(struct numbering *n, const void *key, size_t len)
{
	uint32_t number = numbering_add(n, key, len, NULL);

	return n->failed ? -ENOMEM : (long)number;
}

static long text_number(struct stack_write *w, const char *text)
{
	uint32_t before = w->texts.count;
	long n;

	if (!text)
		return 0;
	n = number_of(&w->texts, text, strlen(text));
	if (w->texts.count > before)
		bytes_add_text(&w->text_part, text);
	return n < 0 ? n : n + 1;
}

static int bias_room(struct stack_write *w, size_t module)
{
	size_t room = w->bias_room ? w->bias_room : 16;
	uint64_t *bias;

	if (module < w->bias_room)
		return 0;
	while (room <= module)
		room *= 2;
	bias = realloc(w->bias, room * sizeof(*bias));
	if (!bias)
		return -ENOMEM;
	memset(bias + w->bias_room, 0, (room - w->bias_room) * sizeof(*bias));
	w->bias = bias;
	w->bias_room = room;
	return 0;
}

static long module_number(struct stack_write *w, const struct snap_module *m)
{
	long path = text_number(w, m->path), build_id = text_number(w, m->build_id);
	uint32_t key[2] = { (uint32_t)path, (uint32_t)build_id }, before = w->modules.count;
	long n = path < 0 || build_id < 0 ? -ENOMEM : number_of(&w->modules, key, sizeof(key));

	if (n < 0 || bias_room(w, (size_t)n + 1) != 0)
		return -ENOMEM;
	if (w->modules.count > before) {
		bytes_number(&w->module_part, (uint64_t)path);
		bytes_number(&w->module_part, (uint64_t)build_id);
		w->new_modules++;
	}
	return n + 1;
}

struct place_key {
	uint64_t pc, offset;
	uint32_t path, function;
};

/* A module's build-id may become known later. Places of frames without an address are told apart by
 * their names. -ENOMEM. */
static int place_key(struct stack_write *w, const struct frame *f, struct place_key *key)
{
	long path = text_number(w, f->module->path);
	long function = f->pc == 0 ? text_number(w, f->function) : 0;

	*key = (struct place_key){ f->pc, f->offset, (uint32_t)path, (uint32_t)function };
	return path < 0 || function < 0 ? -ENOMEM : 0;
}

static long place_number(struct stack_write *w, const struct frame *f)
{
	uint32_t before = w->places.count;
	struct place_key key;
	long module, n;

	n = place_key(w, f, &key) == 0 ? number_of(&w->places, &key, sizeof(key)) : -ENOMEM;
	if (n < 0 || w->places.count == before)
		return n < 0 ? n : n + 1;
	module = module_number(w, f->module);
	if (module < 0)
		return module;
	bytes_number(&w->place_part, (uint64_t)module);
	bytes_number(&w->place_part, f->pc);
	bytes_change(&w->place_part, f->pc - f->offset - w->bias[module]);
	bytes_number(&w->place_part, f->hidden ? STACK_HIDDEN_PLACE : 0);
	w->bias[module] = f->pc - f->offset;
	w->new_places++;
	return n + 1;
}

static long node_number(struct stack_write *w, uint32_t parent, uint32_t place)
{
	uint32_t key[2] = { parent, place }, before = w->nodes.count;
	long n = number_of(&w->nodes, key, sizeof(key));

	if (n < 0)
		return n;
	if (w->nodes.count > before) {
		bytes_number(&w->node_part, parent ? (uint64_t)n + 1 - parent : 0);
		bytes_number(&w->node_part, place);
		w->new_nodes++;
	}
	return n + 1;
}

/* ---- stacks ---- */

/* Whether a frame is one of the program's return addresses, not what was inlined into the next. */
static bool is_place(const struct stack *s, uint32_t i)
{
	return !snapshot_frame(s, i)->inlined || i + 1 == s->nframes;
}

static long leaf_number(struct stack_write *w, const struct stack *s)
{
	long node = 0;

	for (uint32_t i = s->nframes; i-- > 0 && node >= 0;) {
		long place = is_place(s, i) ? place_number(w, snapshot_frame(s, i)) : 0;

		if (place < 0)
			return place;
		if (place)
			node = node_number(w, (uint32_t)node, (uint32_t)place);
	}
	return node;
}

struct last {
	uint32_t id;
	uint64_t leaf;
};

static int site_write(struct stack_write *w, const struct snap_site *site, struct last *last)
{
	const struct stack *s = site->stack;
	long function = text_number(w, site->alloc_function), leaf = leaf_number(w, s);

	if (function < 0 || leaf < 0)
		return -ENOMEM;
	bytes_change(&w->site_part, (uint64_t)site->id - last->id);
	bytes_number(&w->site_part, (uint64_t)function);
	bytes_change(&w->site_part, (uint64_t)leaf - last->leaf);
	bytes_number(&w->site_part, (s->truncated ? STACK_MISSING_OUTER : 0) |
					    (s->ancestor ? STACK_MISSING_INNER : 0) |
					    (uint64_t)site->kind << STACK_KIND_SHIFT);
	*last = (struct last){ site->id, (uint64_t)leaf };
	w->new_sites++;
	w->site[site->id] |= SITE_STACK;
	return 0;
}

static void part_put(struct stack_write *w, uint32_t count, struct bytes *part)
{
	bytes_number(&w->raw, count);
	bytes_add(&w->raw, part->data, part->len);
	w->raw.failed |= part->failed;
	part->len = 0;
}

static void texts_put(struct stack_write *w)
{
	w->raw.len = 0;
	part_put(w, w->texts.count - w->texts_out, &w->text_part);
	w->texts_out = w->texts.count;
}

/* ---- all stacks of a snapshot ---- */

struct visit {
	struct stack_write *w;
	struct last last;
	int (*site)(struct visit *v, const struct snap_site *site);
};

static int sites_visit(struct visit *v, const struct snap_site *sites, size_t count)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		if (sites[i].id < STATE_SITES_MAX)
			rc = v->site(v, &sites[i]);
	return rc;
}

/* Those that free have no figures: they are no sites of the snapshot. */
static int wrong_visit(struct visit *v, const struct snap_wrong_free *f)
{
	const struct snap_site sites[] = {
		{ .id = f->site, .stack = f->stack, .alloc_function = f->freed_by },
		{ .id = f->alloc_site, .stack = f->alloc_stack, .alloc_function = f->allocated_by },
		{ .id = f->first_site,
			.stack = f->first_stack,
			.alloc_function = f->first_freed_by },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(sites) / sizeof(sites[0]); i++)
		if (sites[i].stack && sites[i].stack->nframes > 0 && sites[i].id != 0)
			rc = sites_visit(v, &sites[i], 1);
	return rc;
}

static int all_visit(struct visit *v, const struct snapshot *s)
{
	int rc = sites_visit(v, s->sites, s->nsites);

	if (rc == 0)
		rc = sites_visit(v, s->mapped, s->nmapped);
	for (size_t i = 0; rc == 0 && i < s->nwrong; i++)
		rc = wrong_visit(v, &s->wrong[i]);
	return rc;
}

static int new_site_write(struct visit *v, const struct snap_site *site)
{
	struct stack_write *w = v->w;
	int rc;

	if (site->id < w->sites_room && w->site[site->id] & SITE_STACK)
		return 0;
	rc = flags_room(&w->site, &w->sites_room, site->id);
	return rc ? rc : site_write(w, site, &v->last);
}

int stack_write_sites(struct stack_write *w, const struct snapshot *s, struct bytes *packed)
{
	struct visit v = { .w = w, .site = new_site_write };
	int rc;

	packed->len = 0;
	w->new_modules = w->new_places = w->new_nodes = w->new_sites = 0;
	rc = all_visit(&v, s);
	if (rc || w->new_sites == 0)
		return rc;
	texts_put(w);
	part_put(w, w->new_modules, &w->module_part);
	part_put(w, w->new_places, &w->place_part);
	part_put(w, w->new_nodes, &w->node_part);
	part_put(w, w->new_sites, &w->site_part);
	return block_pack(packed, &w->raw);
}

/* ---- names ---- */

static int frame_write(struct stack_write *w, const struct frame *f)
{
	long function = text_number(w, f->function), mangled = text_number(w, f->mangled);
	long file = text_number(w, f->file);

	if (function < 0 || mangled < 0 || file < 0)
		return -ENOMEM;
	bytes_number(&w->site_part, (uint64_t)function);
	bytes_number(&w->site_part, (uint64_t)mangled);
	bytes_number(&w->site_part, (uint64_t)file);
	bytes_number(&w->site_part, f->line);
	bytes_number(
		&w->site_part, (f->inlined ? STACK_INLINED : 0) | (f->hidden ? STACK_HIDDEN : 0));
	return 0;
}

/* The frames `from` to `place`, which has the address. */
static int place_names_write(
	struct stack_write *w, const struct stack *s, uint32_t from, uint32_t place)
{
	struct place_key key;
	int rc = place_key(w, snapshot_frame(s, place), &key);
	uint32_t number;

	if (rc || !numbering_find(&w->places, &key, sizeof(key), &number))
		return rc;
	number++;
	rc = flags_room(&w->named, &w->named_room, number);
	if (rc || w->named[number])
		return rc;
	bytes_number(&w->site_part, number);
	bytes_number(&w->site_part, place - from + 1);
	for (uint32_t i = from; rc == 0 && i <= place; i++)
		rc = frame_write(w, snapshot_frame(s, i));
	w->named[number] = 1;
	w->new_sites++;
	return rc;
}

/* Whether names told something of a frame that is not in the file since its first tick. */
static bool has_names(const struct frame *f)
{
	return f->function || f->file || f->hidden;
}

static int site_names_write(struct stack_write *w, const struct snap_site *site)
{
	const struct stack *s = site->stack;
	uint32_t from = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->nframes; i++) {
		if (!is_place(s, i))
			continue;
		if (has_names(snapshot_frame(s, i)) || i > from)
			rc = place_names_write(w, s, from, i);
		from = i + 1;
	}
	if (s->resolved)
		w->site[site->id] |= SITE_NAMES;
	return rc;
}

/* Only what is in the file already has places there. */
static int new_names_write(struct visit *v, const struct snap_site *site)
{
	struct stack_write *w = v->w;

	return site->id < w->sites_room && w->site[site->id] == SITE_STACK
		       ? site_names_write(w, site)
		       : 0;
}

int stack_write_names(struct stack_write *w, const struct snapshot *s, struct bytes *packed)
{
	struct visit v = { .w = w, .site = new_names_write };
	int rc;

	packed->len = 0;
	w->new_sites = 0;
	rc = all_visit(&v, s);
	if (rc || w->new_sites == 0)
		return rc;
	texts_put(w);
	part_put(w, w->new_sites, &w->site_part);
	return block_pack(packed, &w->raw);
}

void stack_write_free(struct stack_write *w)
{
	numbering_free(&w->texts);
	numbering_free(&w->modules);
	numbering_free(&w->places);
	numbering_free(&w->nodes);
	bytes_free(&w->text_part);
	bytes_free(&w->module_part);
	bytes_free(&w->place_part);
	bytes_free(&w->node_part);
	bytes_free(&w->site_part);
	bytes_free(&w->raw);
	free(w->bias);
	free(w->site);
	free(w->named);
	*w = (struct stack_write){ 0 };
}
