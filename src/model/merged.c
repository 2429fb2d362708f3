/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several processes as one (merged.h). The model makes the snapshots from the sums, as it does from
 * the counters of one process, so rates and growth come by themselves. A tick costs O(sites of all
 * processes). Main thread.
 */
#include "src/model/merged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/merged_stacks.h"
#include "src/model/merged_totals.h"
#include "src/util/array.h"
#include "src/util/shortage.h"

#define SITES_MOST  (1u << 18) /* some KB each; the others are one site */
#define OTHERS	    0u /* its id */
#define Z_95	    1.96 /* half a 95 % interval, in standard deviations */
#define SLOTS_FIRST 1024u

/* A call site of all processes. Its id is its index. */
struct site {
	struct merged_key key;
	enum snap_kind kind;
	enum naming { UNNAMED, TITLED, NAMED } naming; /* which names are there */
	uint64_t gone_allocs, gone_bytes,
		gone_temporary; /* of processes that are not added any more */
	uint64_t peak_bytes; /* the highest sum at a tick, or of one process */
	struct model_site sum; /* of this tick */
};

/* A process. Its last snapshot keeps its owner's address from being used again. */
struct member {
	struct snapshot *last;
	bool seen, gone;
	uint32_t *to; /* owned: by its sites' ids, the id here + 1; 0: not known */
	uint32_t ids;
};

struct merged {
	unsigned refs;
	struct model *model;
	struct merged_stacks *stacks;
	struct site *site; /* owned */
	size_t nsites, site_room;
	uint32_t *slot; /* owned: ids + 1 by key, open addressing */
	size_t nslots;
	struct member *member; /* owned */
	size_t members, member_room;
	struct model_site *plain; /* owned: the sites of one tick, heap first */
	size_t plain_room;
	struct merged_totals totals;
	const char *command; /* of the head, and its arguments */
	const char *const *argv;
	unsigned argc;
};

struct merged *merged_new(void)
{
	struct merged *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->refs = 1;
	m->model = model_new();
	m->stacks = merged_stacks_new();
	if (m->model && m->stacks)
		return m;
	merged_close(m);
	return NULL;
}

static void member_drop(struct member *p)
{
	snapshot_unref(p->last);
	free(p->to);
}

static void release(void *merged)
{
	struct merged *m = merged;

	if (--m->refs > 0)
		return;
	for (size_t i = 0; i < m->members; i++)
		member_drop(&m->member[i]);
	model_free(m->model);
	merged_stacks_free(m->stacks);
	free(m->site);
	free(m->slot);
	free(m->member);
	free(m->plain);
	free(m);
}

void merged_close(struct merged *m)
{
	if (m)
		release(m);
}

/* ---- call sites ---- */

static bool is_key(const struct merged_key *a, const struct merged_key *b)
{
	return a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

static uint32_t *slot_find(const struct merged *m, const struct merged_key *key)
{
	size_t i = (size_t)key->word[0] & (m->nslots - 1);

	while (m->slot[i] && !is_key(&m->site[m->slot[i] - 1].key, key))
		i = (i + 1) & (m->nslots - 1);
	return &m->slot[i];
}

static int slots_grow(struct merged *m)
{
	size_t nslots = m->nslots ? m->nslots * 2 : SLOTS_FIRST;
	uint32_t *grown;

	if (m->nsites * 2 < m->nslots)
		return 0;
	grown = calloc(nslots, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	free(m->slot);
	m->slot = grown;
	m->nslots = nslots;
	for (size_t i = 0; i < m->nsites; i++)
		*slot_find(m, &m->site[i].key) = (uint32_t)i + 1;
	return 0;
}

/* 0 or -errno. */
static int site_make(
	struct merged *m, const struct merged_key *key, const struct snap_site *from, uint32_t id)
{
	struct site *grown = array_grow(m->site, m->nsites, &m->site_room, sizeof(*grown));
	int rc = grown ? 0 : -ENOMEM;

	if (grown)
		m->site = grown;
	if (rc == 0)
		rc = slots_grow(m);
	if (rc == 0 && id == OTHERS)
		rc = model_site_add(m->model, id, "several", NULL, 0, 0);
	else if (rc == 0)
		rc = merged_stacks_add(m->stacks, m->model, id, from);
	if (rc != 0)
		return rc;
	m->site[m->nsites++] = (struct site){ .key = *key,
		.kind = id == OTHERS ? SNAP_HEAP : from->kind,
		.naming = id == OTHERS ? NAMED : UNNAMED };
	*slot_find(m, key) = id + 1;
	return 0;
}

/* The id of a process's call site, or -errno. */
static long site_of(struct merged *m, const struct snapshot *s, const struct snap_site *from)
{
	static const struct merged_key others = { { 0, 0 } };
	struct merged_key key;
	uint32_t *slot;
	int rc = m->nsites ? 0 : site_make(m, &others, NULL, OTHERS);

	if (rc != 0)
		return rc;
	key = merged_stacks_key(m->stacks, s, from);
	slot = slot_find(m, &key);
	if (*slot)
		return *slot - 1;
	if (m->nsites >= SITES_MOST)
		return OTHERS;
	rc = site_make(m, &key, from, (uint32_t)m->nsites);
	return rc == 0 ? (long)m->nsites - 1 : rc;
}

/* ---- processes ---- */

static int member_room(struct member *p, uint32_t id)
{
	uint32_t ids = p->ids ? p->ids : 256, *grown;

	if (id < p->ids)
		return 0;
	while (ids <= id)
		ids *= 2;
	grown = realloc(p->to, ids * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + p->ids, 0, (ids - p->ids) * sizeof(*grown));
	p->to = grown;
	p->ids = ids;
	return 0;
}

/* NULL: no memory. */
static struct member *member_of(struct merged *m, struct snapshot *s)
{
	struct member *grown;

	for (size_t i = 0; i < m->members; i++)
		if (m->member[i].last->owner == s->owner)
			return &m->member[i];
	grown = array_grow(m->member, m->members, &m->member_room, sizeof(*grown));
	if (!grown)
		return NULL;
	m->member = grown;
	snapshot_ref(s);
	m->member[m->members] = (struct member){ .last = s };
	return &m->member[m->members++];
}

/* Where a process's site is counted; NULL: it is in no tick yet. */
static struct site *site_at(const struct merged *m, const struct member *p, uint32_t id)
{
	return id < p->ids && p->to[id] ? &m->site[p->to[id] - 1] : NULL;
}

static struct site *site_get(
	struct merged *m, struct member *p, const struct snapshot *s, const struct snap_site *from)
{
	long id;

	if (site_at(m, p, from->id))
		return site_at(m, p, from->id);
	id = member_room(p, from->id) == 0 ? site_of(m, s, from) : -ENOMEM;
	if (id < 0)
		return NULL;
	p->to[from->id] = (uint32_t)id + 1;
	return &m->site[id];
}

static double variance(uint64_t half)
{
	return (double)half / Z_95 * ((double)half / Z_95);
}

static void site_add(struct site *to, const struct snap_site *from, bool gone)
{
	struct model_site *sum = &to->sum;

	sum->allocs += from->allocs;
	sum->frees += gone ? from->allocs : from->frees;
	sum->alloc_bytes += from->alloc_bytes;
	sum->temporary += from->temporary;
	sum->live_bytes += gone ? 0 : from->live_bytes;
	sum->variance.live_bytes += gone ? 0 : variance(from->error.live_bytes);
	sum->variance.live_blocks += gone ? 0 : variance(from->error.live_blocks);
	sum->variance.allocs += variance(from->error.allocs);
	sum->variance.alloc_bytes += variance(from->error.alloc_bytes);
	if (from->peak_live_bytes > to->peak_bytes)
		to->peak_bytes = from->peak_live_bytes;
}

/* Names are copied when the one is in that names the site, and when all are. */
static bool is_named_more(const struct site *s, const struct stack *stack)
{
	return s->naming != NAMED &&
	       (stack->resolved ||
		       (s->naming == UNNAMED && snapshot_frame(stack, stack->title)->function));
}

static int sites_add(struct merged *m, struct member *p, const struct snapshot *s,
	const struct snap_site *from, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		struct site *to = site_get(m, p, s, &from[i]);

		if (!to) {
			rc = -ENOMEM;
			continue;
		}
		site_add(to, &from[i], p->gone);
		if (is_named_more(to, from[i].stack))
			to->naming = merged_stacks_name(m->stacks, m->model,
					     (uint32_t)(to - m->site), &from[i])
					     ? NAMED
					     : TITLED;
	}
	return rc;
}

int merged_add(struct merged *m, struct snapshot *s, bool gone)
{
	struct member *p = member_of(m, s);
	int rc;

	if (!p)
		return -ENOMEM;
	snapshot_ref(s);
	snapshot_unref(p->last);
	p->last = s;
	p->seen = true;
	p->gone = gone;
	merged_totals_add(&m->totals, s, gone);
	merged_stacks_begin(m->stacks);
	rc = sites_add(m, p, s, s->sites, s->nsites);
	return rc ? rc : sites_add(m, p, s, s->mapped, s->nmapped);
}

/* ---- those that are gone ---- */

static void sites_leave(struct merged *m, struct member *p, const struct snap_site *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct site *to = site_at(m, p, from[i].id);

		if (!to)
			continue;
		to->gone_allocs += from[i].allocs;
		to->gone_bytes += from[i].alloc_bytes;
		to->gone_temporary += from[i].temporary;
	}
}

/* What they allocated stays counted. */
static void members_leave(struct merged *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->members; i++) {
		struct member *p = &m->member[i];

		if (p->seen) {
			p->seen = false;
			m->member[kept++] = *p;
			continue;
		}
		merged_totals_leave(&m->totals, p->last);
		sites_leave(m, p, p->last->sites, p->last->nsites);
		sites_leave(m, p, p->last->mapped, p->last->nmapped);
		member_drop(p);
	}
	m->members = kept;
}

/* ---- a tick ---- */

void merged_begin(struct merged *m)
{
	for (size_t i = 0; i < m->nsites; i++)
		m->site[i].sum = (struct model_site){ .id = (uint32_t)i, .kind = m->site[i].kind };
	merged_totals_begin(&m->totals);
}

static void sites_finish(struct merged *m)
{
	for (size_t i = 0; i < m->nsites; i++) {
		struct site *s = &m->site[i];

		s->sum.id = (uint32_t)i;
		s->sum.kind = s->kind;
		s->sum.allocs += s->gone_allocs;
		s->sum.frees += s->gone_allocs;
		s->sum.alloc_bytes += s->gone_bytes;
		s->sum.temporary += s->gone_temporary;
		if (s->sum.live_bytes > s->peak_bytes)
			s->peak_bytes = s->sum.live_bytes;
		s->sum.peak_bytes = s->peak_bytes;
	}
}

/* The sites that have allocated; heap: or the others. */
static size_t sites_take(const struct merged *m, bool heap, struct model_site *out)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nsites; i++)
		if (m->site[i].sum.allocs && (m->site[i].kind == SNAP_HEAP) == heap)
			out[n++] = m->site[i].sum;
	return n;
}

/* Copies the command line when it is another one. */
static void command_take(struct merged *m, const struct snapshot *from)
{
	const char *command = merged_stacks_text(m->stacks, from->command);

	if (command && command == m->command)
		return;
	m->command = command;
	m->argv = merged_stacks_texts(m->stacks, from->argv, from->argc);
	m->argc = m->argv ? from->argc : 0;
}

/* Plain figures, and copies of the texts: `head` may be of a process that goes. */
static void head_fill(struct merged *m, const struct snapshot *from, struct snapshot *out)
{
	command_take(m, from);
	*out = (struct snapshot){ .owner = m,
		.release = release,
		.kinds = 0,
		.attach = from->attach,
		.command = m->command,
		.argv = m->argv,
		.argc = m->argc,
		.exe = merged_stacks_text(m->stacks, from->exe),
		.notice = from->notice,
		.state = from->state,
		.exit_status = from->exit_status,
		.signal = from->signal,
		.signal_name = merged_stacks_text(m->stacks, from->signal_name),
		.start_realtime_ns = from->start_realtime_ns,
		.now_realtime_ns = from->now_realtime_ns,
		.uptime_ns = from->uptime_ns,
		.viewer_cpu_ns = from->viewer_cpu_ns,
		.viewer_cpu_percent = from->viewer_cpu_percent,
		.viewer_rss = from->viewer_rss };
}

struct snapshot *merged_end(struct merged *m, const struct snapshot *head, uint64_t now_ns)
{
	struct model_input in = { .now_ns = now_ns };
	struct model_site *grown = realloc(m->plain, (m->nsites + 1) * sizeof(*grown));
	struct snapshot *made;

	if (!grown)
		return NULL;
	m->plain = grown;
	members_leave(m);
	sites_finish(m);
	in.sites = m->plain;
	in.nsites = sites_take(m, true, m->plain);
	in.mapped = m->plain + in.nsites;
	in.nmapped = sites_take(m, false, m->plain + in.nsites);
	head_fill(m, head, &in.head);
	merged_totals_fill(&m->totals, head, &in);
	shortage_note(model_names_settle(m->model));
	made = model_tick(m->model, &in);
	m->refs += made != NULL;
	return made;
}

/* ---- what others ask ---- */

static void member_visit(const struct member *p, uint32_t site,
	void (*visit)(void *ctx, const struct snapshot *of, uint32_t site), void *ctx)
{
	for (uint32_t i = 0; !p->gone && i < p->ids; i++)
		if (p->to[i] == site + 1)
			visit(ctx, p->last, i);
}

void merged_visit(const struct merged *m, uint32_t site,
	void (*visit)(void *ctx, const struct snapshot *of, uint32_t site), void *ctx)
{
	for (size_t i = 0; i < m->members; i++)
		member_visit(&m->member[i], site, visit, ctx);
}

void merged_hide_again(struct merged *m)
{
	for (size_t i = 1; i < m->nsites; i++)
		m->site[i].naming = UNNAMED;
}
