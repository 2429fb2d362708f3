/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The index of the calling-context tree (stack_index.h). Runs inside hooks, on any thread; edge
 * NODE of shm/layout.h.
 *
 * The slots of a line are used in order, and a node goes into the next level only when its line is
 * full, which no line ceases to be. So a node is in no slot after a free one. Two threads that put
 * the same node in pass over the same slots, each of which they compare, and meet at the same free
 * one: only one of them is successful.
 */
#include "shm/stack_index.h"

#define LINE_BYTES (HT_INDEX_SLOTS * (uint64_t)sizeof(uint32_t))

/* ---- lines ---- */

/* A line that a node may be in: first one in each level, then the next ones of the last level. */
struct line {
	uint64_t first, count; /* its level: number of its first line, and of lines */
	uint64_t home; /* the line in each level, before masking */
	uint32_t level, past; /* lines past it in the last level */
};

static struct line line_first(const struct segment *s, uint64_t hash)
{
	return (struct line){ .count = 1ull << s->header->index_log2, .home = hash };
}

/* False: there is no further line. */
static bool line_next(const struct segment *s, struct line *l)
{
	if (l->level + 1 == s->header->index_levels)
		return ++l->past < HT_INDEX_PROBE_LINES;
	l->level++;
	l->first += l->count;
	l->count <<= HT_INDEX_GROWTH_LOG2;
	return true;
}

static uint64_t line_offset(const struct segment *s, const struct line *l)
{
	uint64_t number = l->first + ((l->home + l->past) & (l->count - 1));

	return segment_element(s, HT_REGION_INDEX, number, LINE_BYTES);
}

/* The slots of a line. NULL: it has no memory yet. */
static uint32_t *line_slots(const struct segment *s, const struct line *l)
{
	uint64_t at = line_offset(s, l);

	return commit_has(s, at) ? segment_at(s, at) : NULL;
}

/* The same, after taking memory for it. */
static uint32_t *line_take(const struct segment *s, const struct line *l)
{
	uint64_t at = line_offset(s, l);

	return commit_range(s, at, sizeof(uint32_t)) == 0 ? segment_at(s, at) : NULL;
}

/* What is searched for. */
struct wanted {
	uint32_t tag, parent;
	const struct stack_frame *frame;
};

/* The node that a slot holds, if it is the one wanted; or 0. */
static uint32_t slot_node(const struct segment *s, uint32_t slot, const struct wanted *w)
{
	uint32_t node = slot & HT_INDEX_NODE;

	return (slot ^ w->tag) <= HT_INDEX_NODE && stack_index_is(s, node, w->parent, w->frame)
		       ? node
		       : 0;
}

/* The same among all slots of a line. */
static uint32_t line_node(const struct segment *s, const uint32_t *slots, const struct wanted *w)
{
	uint32_t like = ht_match_relaxed_32(slots, HT_INDEX_SLOTS, ~HT_INDEX_NODE, w->tag);

	for (; like != 0; like &= like - 1) {
		const uint32_t *slot = &slots[__builtin_ctz(like)];
		uint32_t node = slot_node(s, ht_load_acquire_32(slot), w); /* NODE */

		if (node)
			return node;
	}
	return 0;
}

/* ---- finding ---- */

/* Further lines of the last level, which come after a full one. */
static uint32_t find_past(const struct segment *s, struct line *l, const struct wanted *w)
{
	while (line_next(s, l)) {
		const uint32_t *slots = line_slots(s, l);
		uint32_t node = slots ? line_node(s, slots, w) : 0;

		if (node || !slots)
			return node;
	}
	return 0;
}

/* The newest level has most nodes, so it is searched first; the lines arrive together. */
uint32_t stack_index_find(
	const struct segment *s, uint64_t hash, uint32_t parent, const struct stack_frame *f)
{
	const struct wanted w = { stack_index_tag(hash), parent, f };
	const uint32_t *lines[HT_INDEX_LEVELS];
	struct line l = line_first(s, hash);
	uint32_t count = 0, node = 0;

	while (l.past == 0 && (lines[count] = line_slots(s, &l)) != NULL) {
		__builtin_prefetch(lines[count++]);
		(void)line_next(s, &l);
	}
	for (uint32_t i = count; i > 0 && node == 0; i--)
		node = line_node(s, lines[i - 1], &w);
	if (node == 0 && l.past != 0) {
		l.past = 0;
		node = find_past(s, &l, &w);
	}
	return node;
}

/* ---- putting in ---- */

bool stack_index_room(const struct segment *s, uint64_t hash)
{
	struct line l = line_first(s, hash);

	do {
		const uint32_t *slots = line_take(s, &l);

		if (!slots)
			return false;
		/* Relaxed: nothing is read through it. */
		if (!ht_load_relaxed_32(&slots[HT_INDEX_SLOTS - 1]))
			return true;
	} while (line_next(s, &l));
	return false;
}

/* Puts a node into a line, or returns the same one that is there. 0: the line is full. */
static uint32_t line_put(
	const struct segment *s, uint32_t *slots, const struct wanted *w, uint32_t fresh)
{
	/* A full line is final, and can be compared at once. NODE: who used the last slot has seen
	 * the others. */
	if (ht_load_acquire_32(&slots[HT_INDEX_SLOTS - 1]))
		return line_node(s, slots, w);
	for (uint32_t i = 0; i < HT_INDEX_SLOTS; i++) {
		uint32_t seen = ht_load_acquire_32(&slots[i]), node; /* NODE */

		if (seen == 0 && ht_cas_acq_rel_32(&slots[i], &seen, w->tag | fresh)) /* NODE */
			return fresh;
		node = slot_node(s, seen, w);
		if (node)
			return node;
	}
	return 0;
}

uint32_t stack_index_put(const struct segment *s, uint64_t hash, uint32_t fresh)
{
	const struct ht_node *n = stack_index_node(s, fresh);
	const struct stack_frame f = { n->pc, n->module };
	const struct wanted w = { stack_index_tag(hash), n->parent, &f };
	struct line l = line_first(s, hash);

	do {
		uint32_t *slots = line_take(s, &l);
		uint32_t node = slots ? line_put(s, slots, &w, fresh) : 0;

		if (node || !slots)
			return node;
	} while (line_next(s, &l));
	return 0;
}
