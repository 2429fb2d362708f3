/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites by names (keys.h). Main thread. */
#include "src/diff/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/diff/function_name.h"
#include "src/util/array.h"
#include "src/util/intern.h"

#define NAMES_MAX                                                                                  \
	4096 /* frames of a stack with inlined ones; more are left out at the outer end            \
	      */
#define SLOTS_LEAST 1024

struct keys {
	size_t na, nb;
	struct intern *memory;
	struct keys_entry *entries;
	size_t count, room;
	uint32_t *slots; /* open addressing: index of an entry plus 1 */
	size_t nslots;
	bool failed; /* no memory */
	const char *all[NAMES_MAX], *own[NAMES_MAX]; /* of the site that is added */
	uint32_t nall, nown;
};

struct keys *keys_new(size_t na, size_t nb)
{
	struct keys *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->na = na;
	k->nb = nb;
	k->nslots = SLOTS_LEAST;
	k->slots = calloc(k->nslots, sizeof(*k->slots));
	k->memory = intern_new();
	if (k->slots && k->memory)
		return k;
	keys_free(k);
	return NULL;
}

void keys_free(struct keys *k)
{
	if (!k)
		return;
	intern_free(k->memory);
	free(k->entries);
	free(k->slots);
	free(k);
}

/* ---- names ---- */

static const char *name_keep(struct keys *k, const char *name, size_t len)
{
	const char *kept = intern_text(k->memory, name, len);

	k->failed |= !kept;
	return kept ? kept : "";
}

/* A function without a name is known by its place, which only the same build has. */
static const char *unnamed_keep(struct keys *k, const struct frame *f, bool place)
{
	const struct snap_module *m = f->module;
	char text[512];
	int len;

	if (place)
		len = snprintf(text, sizeof(text), "?? %s+%#llx",
			*m->build_id ? m->build_id : m->name, (unsigned long long)f->offset);
	else
		len = snprintf(text, sizeof(text), "?? %s", m->name);
	return name_keep(k, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

static void all_add(struct keys *k, const char *name)
{
	if (k->nall < NAMES_MAX)
		k->all[k->nall++] = name;
}

static void own_add(struct keys *k, const char *name)
{
	if (k->nown < NAMES_MAX)
		k->own[k->nown++] = name;
}

/* What is_part asks about the frame before. */
struct before {
	bool cut; /* its name was cut: it is a clone */
	bool inlined;
};

/*
 * A function and a part of it that calls or is called by it (f.part.0 and f) are one frame, as are
 * two copies of it of which one is inlined; two equal clones in a row are a recursion.
 */
static bool is_part(const struct keys *k, struct before b, bool cut, bool inlined, const char *name)
{
	return k->nall > 1 && k->all[k->nall - 1] == name && (cut != b.cut || inlined || b.inlined);
}

static void frame_add(struct keys *k, const struct frame *f, struct before *b)
{
	const char *name;
	bool cut, part;
	size_t len;

	if (!f->function) {
		all_add(k, unnamed_keep(k, f, true));
		name = unnamed_keep(k, f, false);
		if (k->nown == 0 || k->own[k->nown - 1] != name)
			own_add(k, name);
		*b = (struct before){ .inlined = true };
		return;
	}
	len = function_name_plain(f->function);
	name = name_keep(k, f->function, len);
	cut = f->function[len] != '\0';
	part = is_part(k, *b, cut, f->inlined, name);
	*b = (struct before){ cut, f->inlined };
	if (part)
		return;
	all_add(k, name);
	if (!f->hidden)
		own_add(k, name);
}

/* Frames without the outermost ones that only start main or a thread. Further in, a function of
 * such a name, as "clone", is the program's own. */
static uint32_t program_frames(const struct stack *stack)
{
	uint32_t n = stack->nframes;

	while (n > 0 && snapshot_frame(stack, n - 1)->function &&
		function_name_starts(snapshot_frame(stack, n - 1)->function))
		n--;
	return n;
}

static void names_make(struct keys *k, const struct snap_site *site)
{
	uint32_t n = program_frames(site->stack);
	const char *alloc = name_keep(k, site->alloc_function, strlen(site->alloc_function));
	struct before b = { .inlined = true };

	k->nall = k->nown = 0;
	all_add(k, alloc);
	for (uint32_t i = 0; i < n; i++)
		frame_add(k, snapshot_frame(site->stack, i), &b);
	if (k->nown == 0)
		own_add(k, alloc);
}

/* ---- entries ---- */

static uint64_t hash_of(const char *const *names, uint32_t count)
{
	uint64_t hash = count;

	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ (uintptr_t)names[i]) * UINT64_C(0x9e3779b97f4a7c15),
		hash ^= hash >> 29;
	return hash;
}

static bool is_entry(const struct keys_entry *e, const char *const *names, uint32_t count)
{
	return e->all.count == count && !memcmp(e->all.names, names, count * sizeof(*names));
}

/* The slot of that stack, or the empty one where it belongs. */
static uint32_t *slot_find(const struct keys *k, const char *const *names, uint32_t count)
{
	size_t at = hash_of(names, count) & (k->nslots - 1);

	while (k->slots[at] && !is_entry(&k->entries[k->slots[at] - 1], names, count))
		at = (at + 1) & (k->nslots - 1);
	return &k->slots[at];
}

static bool slots_grow(struct keys *k)
{
	uint32_t *more;

	if (2 * k->count < k->nslots)
		return true;
	more = calloc(2 * k->nslots, sizeof(*more));
	if (!more)
		return false;
	free(k->slots);
	k->slots = more;
	k->nslots *= 2;
	for (size_t i = 0; i < k->count; i++)
		*slot_find(k, k->entries[i].all.names, k->entries[i].all.count) = (uint32_t)i + 1;
	return true;
}

static struct keys_names names_keep(struct keys *k, const char *const *names, uint32_t count)
{
	const char **kept = intern_alloc(k->memory, count * sizeof(*kept));

	if (kept)
		memcpy(kept, names, count * sizeof(*kept));
	k->failed |= !kept;
	return (struct keys_names){ kept, kept ? count : 0 };
}

static const char *file_of(struct keys *k, const struct frame *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;
	const char *file = slash ? slash + 1 : f->file ? f->file : f->module->name;

	return name_keep(k, file, strlen(file));
}

/* The hidden frame that the site's own code calls. */
static const char *library_entry(struct keys *k, const struct snap_site *site)
{
	uint32_t title = site->stack->title;
	const struct frame *f = title ? snapshot_frame(site->stack, title - 1) : NULL;

	if (!f || !f->function)
		return name_keep(k, "", 0);
	return name_keep(k, f->function, function_name_plain(f->function));
}

static struct keys_entry *entry_add(struct keys *k, const struct snap_site *site)
{
	const struct frame *title = snapshot_frame(site->stack, site->stack->title);
	struct keys_entry *more = array_grow(k->entries, k->count, &k->room, sizeof(*k->entries));
	struct keys_entry *e;

	if (!more) {
		k->failed = true;
		return NULL;
	}
	k->entries = more;
	e = &more[k->count];
	*e = (struct keys_entry){ .all = names_keep(k, k->all, k->nall),
		.own = names_keep(k, k->own, k->nown),
		.entry = library_entry(k, site),
		.file = file_of(k, title),
		.values =
			intern_alloc(k->memory, (k->na + k->nb) * VALUE_COUNT * sizeof(*e->values)),
		.run = UINT32_MAX };
	e->function = k->own[0];
	k->failed |= !e->values;
	if (k->failed)
		return NULL;
	k->count++;
	return e;
}

static struct keys_entry *entry_find(struct keys *k, const struct snap_site *site)
{
	uint32_t *slot;

	if (!slots_grow(k)) {
		k->failed = true;
		return NULL;
	}
	slot = slot_find(k, k->all, k->nall);
	if (*slot)
		return &k->entries[*slot - 1];
	*slot = (uint32_t)k->count + 1;
	return entry_add(k, site);
}

static void entry_count(
	const struct keys *k, struct keys_entry *e, const struct snap_site *site, size_t run)
{
	int side = run >= k->na;

	for (int v = 0; v < VALUE_COUNT; v++)
		e->values[run * VALUE_COUNT + (size_t)v] += value_of(site, (enum snap_value)v);
	if (!e->site[side] || site->alloc_bytes > e->site[side]->alloc_bytes)
		e->site[side] = site;
	e->run_sites = e->run == run ? e->run_sites + 1 : 1;
	e->run = (uint32_t)run;
	if (e->run_sites > e->sites[side])
		e->sites[side] = e->run_sites;
}

bool keys_add(struct keys *k, const struct snapshot *s, size_t run)
{
	for (size_t i = 0; i < s->nsites; i++) {
		struct keys_entry *e;

		names_make(k, &s->sites[i]);
		e = k->failed ? NULL : entry_find(k, &s->sites[i]);
		if (!e)
			return false;
		entry_count(k, e, &s->sites[i], run);
	}
	return true;
}

const struct keys_entry *keys_entries(const struct keys *k, size_t *count)
{
	*count = k->count;
	return k->entries;
}

double keys_mean(const struct keys *k, const struct keys_entry *e, int side, enum snap_value v)
{
	size_t from = side ? k->na : 0, n = side ? k->nb : k->na;
	double sum = 0;

	for (size_t r = from; r < from + n; r++)
		sum += (double)e->values[r * VALUE_COUNT + v];
	return n ? sum / (double)n : 0;
}
