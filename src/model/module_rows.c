/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums up sites by module (module_rows.h). The modules view calls it once a tick while it is shown.
 * It visits each frame of each stack, so it finds a frame's row by the module's pointer first.
 */
#include "src/model/module_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

#define RECENT 256u /* cached modules; programs rarely have more */

struct counter {
	struct module_rows *to;
	struct {
		const struct snap_module *module;
		size_t at;
	} recent[RECENT];
};

static uint64_t object_id(const struct snap_module *m)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *p = m->path; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	for (const char *p = m->build_id; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	return h;
}

static struct module_row *object_new(
	struct module_rows *o, const struct snap_module *m, uint64_t id)
{
	struct module_row *grown = array_grow(o->object, o->count, &o->capacity, sizeof(*grown));

	if (!grown)
		return NULL;
	o->object = grown;
	o->object[o->count] = (struct module_row){ .module = m, .id = id };
	return &o->object[o->count++];
}

/* A library that was loaded again has another struct snap_module, but the same row. */
static struct module_row *object_of(struct counter *c, const struct snap_module *m)
{
	unsigned slot = (unsigned)((uintptr_t)m / sizeof(*m)) % RECENT;
	struct module_rows *o = c->to;
	struct module_row *found = NULL;
	uint64_t id;

	if (c->recent[slot].module == m)
		return &o->object[c->recent[slot].at];
	id = object_id(m);
	for (size_t i = 0; i < o->count && !found; i++)
		if (o->object[i].id == id)
			found = &o->object[i];
	if (!found)
		found = object_new(o, m, id);
	if (found) {
		c->recent[slot].module = m;
		c->recent[slot].at = (size_t)(found - o->object);
	}
	return found;
}

static int count_frames(struct counter *c, const struct stack *st)
{
	for (uint32_t i = 0; i < st->nframes; i++) {
		const struct frame *f = snapshot_frame(st, i);
		struct module_row *o = object_of(c, f->module);

		if (!o)
			return -ENOMEM;
		o->frames++;
		o->named += f->function != NULL;
		o->lined += f->file != NULL;
		o->pending |= !st->resolved && !f->function;
	}
	return 0;
}

static void count_since(
	struct module_row *o, const struct snap_site *site, const struct snapshot *snap)
{
	snapshot_change_add(
		&o->since_bytes, snap->compared ? snapshot_delta(site) : site->since.bytes);
	o->since_alloc += site->since.alloc_bytes;
	o->since_freed += snapshot_since_freed(&site->since);
}

static int count_site(struct counter *c, const struct snapshot *snap, const struct snap_site *site,
	bool show_hidden)
{
	const struct stack *st = site->stack;
	uint32_t title = show_hidden || st->title >= st->nframes ? 0 : st->title;
	struct module_row *o;

	if (count_frames(c, st) != 0)
		return -ENOMEM;
	o = object_of(c, snapshot_frame(st, title)->module);
	if (!o)
		return -ENOMEM;
	o->live_bytes += site->live_bytes;
	o->live_blocks += site->live_blocks;
	o->rate_bytes_per_s += site->rate_bytes_per_s;
	o->allocs_per_s += site->allocs_per_s;
	o->sites++;
	if (snap->since || snap->moment == SNAP_RANGE)
		count_since(o, site, snap);
	return 0;
}

int module_rows_make(struct module_rows *o, const struct snapshot *snap, bool show_hidden)
{
	struct counter c = { .to = o };
	int rc = 0;

	o->count = 0;
	for (size_t i = 0; i < snap->nsites && rc == 0; i++)
		rc = count_site(&c, snap, &snap->sites[i], show_hidden);
	if (rc)
		o->count = 0;
	return rc;
}

void module_rows_free(struct module_rows *o)
{
	free(o->object);
	*o = (struct module_rows){ 0 };
}

enum module_rows_names module_rows_names(const struct module_row *o)
{
	if (o->lined)
		return MODULE_ROWS_LINES;
	/* Pending names of another stack do not invalidate known ones. */
	if (o->named)
		return MODULE_ROWS_FUNCTIONS;
	return o->pending ? MODULE_ROWS_PENDING : MODULE_ROWS_NOTHING;
}
