/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a forked child has from its parent's mappings (inherited.h). Main thread. */
#include "src/session/inherited.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/session/mapped.h"
#include "src/util/shortage.h"

#define PARENTS 16u /* a chain of forks without exec is rarely longer than three */

/* A process that forked the one before it, or the one that was asked for. */
struct ancestor {
	struct read_segment *segment; /* owned */
	uint64_t blocks; /* of its mappings, those up to this one were inherited */
	uint32_t *id; /* owned; by site: the id in snapshots, 0: none */
	uint32_t sites;
};

struct chain {
	struct ancestor of[PARENTS]; /* the parent first */
	unsigned count;
	struct inherited *in;
	struct stack_registration *registration;
	const struct model *model;
	size_t room; /* of in->site */
};

void inherited_free(struct inherited *in)
{
	map_ranges_free(&in->ranges);
	free(in->site);
	*in = (struct inherited){ 0 };
}

/* ---- the parents' segments ---- */

/* Opens the segment that lies beside that of `s`. NULL: it is gone, or another one has its name. */
static struct read_segment *beside_open(struct read_segment *s, const struct read_parent *parent)
{
	const char *path = read_path(s), *slash = strrchr(path, '/');
	int length = slash ? (int)(slash + 1 - path) : 0;
	char full[512], message[READ_MESSAGE_MAX];
	struct read_segment *found = NULL;
	static struct read_identity id; /* too large for the stack */

	if (snprintf(full, sizeof(full), "%.*s%s", length, path, parent->name) < (int)sizeof(full))
		found = read_open(full, message);
	if (found && (read_identity(found, &id) != 0 || id.created_ns != parent->created_ns)) {
		read_close(found);
		return NULL;
	}
	return found;
}

static void chain_open(struct chain *c, struct read_segment *s)
{
	struct read_parent parent;
	struct read_totals t;

	while (c->count < PARENTS && read_parent(s, &parent) == 0) {
		struct ancestor *a = &c->of[c->count];

		s = beside_open(s, &parent);
		if (!s)
			return;
		*a = (struct ancestor){ .segment = s, .blocks = parent.blocks };
		c->count++;
		if (read_totals(s, &t) == 0)
			a->id = calloc(t.sites + 1ull, sizeof(*a->id));
		a->sites = a->id ? t.sites : 0;
	}
}

static void chain_close(struct chain *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		read_close(c->of[i].segment);
		free(c->of[i].id);
	}
}

/* ---- their sites ---- */

static bool site_room(struct chain *c)
{
	size_t room = c->room ? c->room * 2 : 64;
	struct snap_site *grown;

	if (c->in->sites < c->room)
		return true;
	grown = realloc(c->in->site, room * sizeof(*grown));
	if (!grown)
		return false;
	c->in->site = grown;
	c->room = room;
	return true;
}

/* The id of an ancestor's site; 0: its stack cannot be read. */
static uint32_t id_of(struct chain *c, struct ancestor *a, uint32_t site)
{
	struct snap_site *made;
	uint32_t function, id = SNAP_INHERITED_FIRST + (uint32_t)c->in->sites;

	if (a->id[site] != 0)
		return a->id[site];
	if (c->in->sites >= SNAP_INHERITED_MAX || !site_room(c) ||
		!stack_registration_inherit(c->registration, a->segment, site, id, &function))
		return 0;
	made = &c->in->site[c->in->sites++];
	*made = (struct snap_site){ .id = id, .kind = mapped_kind(function) };
	made->stack = model_site_stack(c->model, id, &made->alloc_function);
	return a->id[site] = id;
}

static bool is_inherited(const struct read_mapping *m, const struct ancestor *a)
{
	return m->block <= a->blocks && m->kind != HT_MAPPING_ALLOCATOR &&
	       m->kind != HT_MAPPING_POOL && m->site > 0 && m->site < a->sites;
}

/* What an ancestor had mapped itself. 0 or -errno. */
static int own_read(struct chain *c, struct ancestor *a, struct map_ranges *out)
{
	struct read_mapping *m = NULL;
	bool whole;
	ssize_t n = read_mappings(a->segment, &m, &whole);

	if (n < 0)
		return (int)n;
	out->range = malloc(((size_t)n + 1) * sizeof(*out->range));
	for (ssize_t i = 0; out->range && i < n; i++) {
		uint32_t id = is_inherited(&m[i], a) ? id_of(c, a, m[i].site) : 0;

		if (id != 0)
			out->range[out->count++] = (struct map_range){ m[i].start, m[i].end, id };
	}
	free(m);
	return out->range ? 0 : -ENOMEM;
}

/* ---- their mappings ---- */

/* What the child of an ancestor inherited: what that had mapped, and what it had inherited
 * itself. */
static int ancestor_add(struct chain *c, struct ancestor *a)
{
	struct map_ranges own = { 0 }, left = { 0 }, all = { 0 };
	int rc = own_read(c, a, &own);

	if (rc == 0)
		rc = map_ranges_unmapped(a->segment, &c->in->ranges, &left);
	if (rc == 0)
		rc = map_ranges_merge(&own, &left, &all);
	map_ranges_free(&own);
	map_ranges_free(&left);
	if (rc != 0)
		return rc;
	map_ranges_free(&c->in->ranges);
	c->in->ranges = all;
	return 0;
}

static void bytes_sum(struct inherited *in)
{
	for (size_t i = 0; i < in->ranges.count; i++) {
		const struct map_range *r = &in->ranges.range[i];

		in->site[r->site - SNAP_INHERITED_FIRST].live_bytes += r->end - r->start;
	}
}

void inherited_read(struct inherited *in, struct read_segment *segment,
	struct stack_registration *registration, const struct model *model)
{
	struct chain c = { .in = in, .registration = registration, .model = model };
	int rc = 0;

	if (in->is_read)
		return;
	in->is_read = true;
	chain_open(&c, segment);
	for (unsigned i = c.count; i > 0 && rc == 0; i--)
		rc = ancestor_add(&c, &c.of[i - 1]);
	bytes_sum(in);
	chain_close(&c);
	shortage_note(rc);
}
