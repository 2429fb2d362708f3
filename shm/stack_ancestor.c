/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks for which the tree has no room (stack_ancestor.h). Runs inside hooks, on any thread; edge
 * SITE of shm/layout.h. A node's `site` names its own site, or that of the ancestor that was chosen
 * for it. It never changes again, so each node is searched from only once.
 */
#include "shm/stack_ancestor.h"

/* Sites and counters whose memory is committed ahead, for ancestors when there is no more: 10 KB,
 * which seldom makes a small program take another unit. */
#define AHEAD 64u
/*
 * Each quarter of the reserve is for nodes further out: the first for any node, the next for those
 * at half the depth of the stack, a quarter, an eighth. Further out there are fewer, so that the
 * reserve lasts, and no stack goes to the catch-all because others used it up.
 */
#define QUARTERS 4u
/* The very last are for the root, which every stack has: several, as threads may race for its site.
 */
#define FOR_ROOT 8u

/* ---- the reserve ---- */

/* The elements of a table, AHEAD at most, that have memory: those from `used` on. */
static uint32_t ahead_of(
	const struct segment *s, enum ht_region_id region, uint64_t size, uint32_t used)
{
	uint64_t room = segment_capacity(s, region, size), left = room > used ? room - used : 0;
	uint64_t at = segment_element(s, region, used, size);

	if (left > AHEAD)
		left = AHEAD;
	if (left == 0 || commit_range(s, at, left * size) == 0)
		return (uint32_t)left;
	return (uint32_t)(commit_reach(s, at) / size);
}

/* Sites that have, or can be given, memory for themselves and for a counter each; AHEAD at most. */
static uint32_t ahead(const struct segment *s)
{
	uint32_t sites = ahead_of(
		s, HT_REGION_SITES, sizeof(struct ht_site), ht_load_relaxed_32(&s->header->sites));
	uint32_t counters = ahead_of(s, HT_REGION_COUNTERS, sizeof(struct ht_counter),
		ht_load_relaxed_32(&s->header->counters));

	return sites < counters ? sites : counters;
}

bool stack_ancestor_spares(const struct segment *s)
{
	return ht_load_relaxed_32(&s->header->sites) < stack_ancestor_limit(s) && ahead(s) == AHEAD;
}

/* What is left of the reserve, `all` of which is `*of`. */
static uint64_t reserve_left(const struct segment *s, uint64_t *of)
{
	uint64_t room = segment_capacity(s, HT_REGION_SITES, sizeof(struct ht_site));
	uint32_t near = ahead(s);

	*of = near < AHEAD ? AHEAD : room / STACK_ANCESTOR_PART;
	return near < AHEAD ? near : room - ht_load_relaxed_32(&s->header->sites);
}

/* The depth of the innermost node that may take a site now, on the way to one at `depth`. */
static uint32_t depth_allowed(const struct segment *s, uint32_t depth)
{
	uint64_t of, left = reserve_left(s, &of);
	uint32_t quarter;

	if (left >= of)
		return depth;
	if (left < FOR_ROOT)
		return 0;
	quarter = QUARTERS - 1 - (uint32_t)(left * QUARTERS / of);
	return depth >> quarter ? depth >> quarter : 1;
}

/* ---- one node ---- */

static struct ht_node *node_at(const struct segment *s, uint32_t node)
{
	return segment_at(s, segment_element(s, HT_REGION_NODES, node, sizeof(struct ht_node)));
}

static struct ht_site *site_at(const struct segment *s, uint32_t site)
{
	return segment_at(s, segment_element(s, HT_REGION_SITES, site, sizeof(struct ht_site)));
}

static uint32_t depth_of(const struct segment *s, uint32_t node)
{
	uint32_t depth = 0;

	for (; node != 0; node = node_at(s, node)->parent)
		depth++;
	return depth;
}

/* Gives a node a site, or returns the choice that another thread noted there. 0: there is no room.
 */
static uint32_t site_take(const struct segment *s, uint32_t node, bool truncated)
{
	const uint64_t size = sizeof(struct ht_site);
	const struct commit_table sites = { &s->header->sites, HT_REGION_SITES, size,
		segment_capacity(s, HT_REGION_SITES, size) };
	uint32_t fresh = commit_take(s, &sites), seen = 0;
	struct ht_site *site = site_at(s, fresh);

	if (fresh == 0)
		return 0;
	site->flags = HT_SITE_ANCESTOR | (truncated ? HT_SITE_TRUNCATED : 0);
	ht_store_release_32(&site->node, node); /* SITE: last, for readers that copy it too early */
	/* SITE: publishes the site's fields. The loser's site has no counts, so is never shown. */
	return ht_cas_acq_rel_32(&node_at(s, node)->site, &seen, fresh) ? fresh : seen;
}

/* Searches outwards from `*node`, which becomes the node found. Returns its choice; 0: none. */
static uint32_t choose(const struct segment *s, uint32_t *node, bool truncated)
{
	uint32_t depth = depth_of(s, *node), allowed = depth_allowed(s, depth);

	for (;; depth--) {
		uint32_t site = ht_load_acquire_32(&node_at(s, *node)->site); /* SITE */

		if (site == 0 && depth <= allowed)
			site = site_take(s, *node, truncated);
		if (site != 0 || depth == 0)
			return site;
		*node = node_at(s, *node)->parent;
	}
}

/* Notes a choice in a node that has none. Returns the one that is there now. */
static uint32_t note(const struct segment *s, uint32_t node, uint32_t choice)
{
	uint32_t seen = 0;

	/* SITE: passes on the site's fields to those who find it here. */
	return ht_cas_acq_rel_32(&node_at(s, node)->site, &seen, choice) ? choice : seen;
}

static uint32_t choose_and_note(const struct segment *s, uint32_t node, bool truncated)
{
	uint32_t end = node, choice = choose(s, &end, truncated), own;

	if (choice == 0 || node == end)
		return choice;
	own = note(s, node, choice);
	while ((node = node_at(s, node)->parent) != end)
		note(s, node, choice);
	return own;
}

uint32_t stack_ancestor_site(const struct segment *s, uint32_t node, bool truncated)
{
	uint32_t choice = ht_load_acquire_32(&node_at(s, node)->site); /* SITE */

	return choice ? choice : choose_and_note(s, node, truncated);
}
