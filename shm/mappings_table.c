/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contents of the table of mapped memory, and the counts (mappings_table.h). In hooks, any
 * thread, under the lock. An entry that was taken has the flag LEAVING, by which readers skip it,
 * until it is freed or put back.
 */
#include "shm/mappings_table.h"

#include "shm/commit.h"
#include "shm/mappings_tree.h"
#include "shm/stack.h"

/* ---- counts ---- */

static void add(uint64_t *count, uint64_t value)
{
	ht_store_relaxed_64(count, *count + value);
}

static struct ht_mapped *mapped_at(const struct segment *s, uint32_t number)
{
	return segment_at(
		s, segment_element(s, HT_REGION_MAPPED, number, sizeof(struct ht_mapped)));
}

/* The counts of a site, made if they are missing; NULL: there is no room. */
static struct ht_mapped *mapped_of(const struct segment *s, uint32_t site)
{
	const uint64_t size = sizeof(struct ht_mapped);
	const struct commit_table table = { &s->header->mapped, HT_REGION_MAPPED, size,
		segment_capacity(s, HT_REGION_MAPPED, size) };
	struct ht_site *e = stack_site(s, site);

	if (e->mapped == 0) {
		uint32_t number = commit_take(s, &table);

		if (number == 0)
			return NULL;
		mapped_at(s, number)->site = site;
		ht_store_relaxed_32(&e->mapped, number);
	}
	return mapped_at(s, e->mapped);
}

static void peak_raise(uint64_t *peak, uint64_t mapped, uint64_t unmapped)
{
	if (mapped - unmapped > *peak)
		ht_store_relaxed_64(peak, mapped - unmapped);
}

static void count_all_mapped(struct ht_header *h, uint64_t bytes)
{
	uint64_t peak = h->mapped_peak_bytes;

	add(&h->maps, 1);
	add(&h->map_bytes, bytes);
	peak_raise(&h->mapped_peak_bytes, h->map_bytes, h->unmap_bytes);
	if (h->mapped_peak_bytes != peak)
		ht_store_relaxed_64(&h->mapped_peak_ns, ht_load_relaxed_64(&h->clock_ns));
}

static void count_all_pooled(struct ht_header *h, uint64_t bytes)
{
	add(&h->pool_blocks, 1);
	add(&h->pool_bytes, bytes);
	peak_raise(&h->pool_peak_bytes, h->pool_bytes, h->pool_gone_bytes);
}

static bool is_pools(uint32_t kind)
{
	return (kind & ~HT_MAPPING_LEAVING) == HT_MAPPING_POOL;
}

static void count_mapped(
	const struct segment *s, struct ht_mapped *m, enum ht_mapping_kind kind, uint64_t bytes)
{
	add(&m->maps, 1);
	add(&m->map_bytes, bytes);
	peak_raise(&m->peak_bytes, m->map_bytes, m->unmap_bytes);
	if (is_pools(kind))
		count_all_pooled(s->header, bytes);
	else
		count_all_mapped(s->header, bytes);
}

/* `blocks`: 1 with the last piece of a block. */
static void count_unmapped(
	const struct segment *s, const struct ht_mapping *e, uint64_t bytes, uint64_t blocks)
{
	struct ht_header *h = s->header;
	struct ht_mapped *m;

	if (e->site == 0) {
		add(&h->allocator_mapped_bytes, -bytes);
		return;
	}
	m = mapped_at(s, stack_site(s, e->site)->mapped);
	add(&m->unmaps, blocks);
	add(&m->unmap_bytes, bytes);
	add(is_pools(e->kind) ? &h->pool_gone_blocks : &h->unmaps, blocks);
	add(is_pools(e->kind) ? &h->pool_gone_bytes : &h->unmap_bytes, bytes);
}

void mappings_table_untracked(const struct segment *s, enum ht_mapping_kind kind, uint64_t bytes)
{
	struct ht_header *h = s->header;

	ht_add_relaxed_64(is_pools(kind) ? &h->pool_untracked : &h->untracked_maps, 1);
	ht_add_relaxed_64(
		is_pools(kind) ? &h->pool_untracked_bytes : &h->untracked_map_bytes, bytes);
}

/* ---- pieces ---- */

static void mark(struct ht_mapping *e)
{
	e->mark = ht_mapping_mark(e);
}

/* Without room for another entry the upper part is lost, and counted. */
static void piece_shorten(const struct segment *s, struct ht_mapping *e, uint64_t end)
{
	mappings_table_untracked(s, (enum ht_mapping_kind)e->kind, e->end - end);
	count_unmapped(s, e, e->end - end, 0);
	e->end = end;
	mark(e);
}

/* Parts a piece in which `at` lies, so that one begins there. */
static void piece_cut(const struct segment *s, uint64_t at)
{
	uint32_t lower = mappings_tree_over(s, at), upper = lower ? mappings_tree_new(s) : 0;
	struct ht_mapping *e, *n;

	if (lower == 0)
		return;
	e = mappings_tree_at(s, lower);
	if (upper == 0) {
		piece_shorten(s, e, at);
		return;
	}
	n = mappings_tree_at(s, upper);
	*n = *e;
	n->start = at;
	e->end = at;
	mark(e);
	mappings_tree_ring_add(s, upper, lower);
	mappings_tree_put(s, upper);
}

/* Whether two neighbours are pieces of one block that nothing parts any more. */
static bool is_one(const struct ht_mapping *lower, const struct ht_mapping *upper)
{
	return lower->block == upper->block && lower->end == upper->start;
}

/* Makes one piece of two; `upper` is in no tree. */
static void pieces_join(const struct segment *s, struct ht_mapping *lower, uint32_t upper)
{
	lower->end = mappings_tree_at(s, upper)->end;
	mark(lower);
	(void)mappings_tree_ring_remove(s, upper);
	mappings_tree_free(s, upper);
}

/* Joins a piece, in no tree, to the one above it. */
static void join_above(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);
	uint32_t above = mappings_tree_floor(s, e->end);

	if (above == 0 || !is_one(e, mappings_tree_at(s, above)))
		return;
	(void)mappings_tree_take(s, e->end, e->end + 1);
	pieces_join(s, e, above);
}

/* ---- lists of what was taken ---- */

static uint64_t list_leave(const struct segment *s, uint32_t list)
{
	uint64_t bytes = 0;

	for (uint32_t i = list; i != 0; i = mappings_tree_at(s, i)->left) {
		struct ht_mapping *e = mappings_tree_at(s, i);

		e->kind |= HT_MAPPING_LEAVING;
		mark(e);
		bytes += e->end - e->start;
	}
	return bytes;
}

static uint32_t list_take(const struct segment *s, uint64_t start, uint64_t end)
{
	piece_cut(s, start);
	piece_cut(s, end);
	return mappings_tree_take(s, start, end);
}

static void piece_drop(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);

	count_unmapped(s, e, e->end - e->start, mappings_tree_ring_remove(s, number));
	mappings_tree_free(s, number);
}

static void list_drop(const struct segment *s, uint32_t list)
{
	uint32_t next;

	for (; list != 0; list = next) {
		next = mappings_tree_at(s, list)->left;
		piece_drop(s, list);
	}
}

static bool is_free(const struct segment *s, uint64_t start, uint64_t end)
{
	uint32_t below = mappings_tree_floor(s, end - 1);

	return below == 0 || mappings_tree_at(s, below)->end <= start;
}

/* Puts a piece back into the tree, joined to its neighbours; unless another thread has mapped
 * something there meanwhile, so that it is gone after all. */
static void piece_return(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);
	uint32_t below;

	if (!is_free(s, e->start, e->end)) {
		piece_drop(s, number);
		return;
	}
	e->kind &= ~HT_MAPPING_LEAVING;
	join_above(s, number);
	below = mappings_tree_floor(s, e->start);
	if (below != 0 && is_one(mappings_tree_at(s, below), e))
		pieces_join(s, mappings_tree_at(s, below), number);
	else
		mappings_tree_put(s, number);
}

static void list_return(const struct segment *s, uint32_t list)
{
	uint32_t next;

	for (; list != 0; list = next) {
		next = mappings_tree_at(s, list)->left;
		piece_return(s, list);
	}
}

/* Retires what is still in the table where memory was mapped anew: its unmapping was not seen. A
 * pool need not report each block's end, so for pools this is no loss. */
static void missed_retire(const struct segment *s, const struct mappings_block *b)
{
	uint32_t list = list_take(s, b->start, b->end);
	uint64_t bytes = list_leave(s, list);

	if (bytes != 0 && !is_pools(b->kind))
		ht_add_relaxed_64(&s->header->missed_unmap_bytes, bytes);
	list_drop(s, list);
}

static bool block_make(const struct segment *s, const struct mappings_block *b)
{
	struct ht_mapped *m = b->site != 0 ? mapped_of(s, b->site) : NULL;
	uint32_t number = b->site == 0 || m ? mappings_tree_new(s) : 0;
	struct ht_mapping *e;

	if (number == 0)
		return false;
	e = mappings_tree_at(s, number);
	*e = (struct ht_mapping){ .start = b->start,
		.end = b->end,
		.tick = b->tick,
		.block = ++s->header->mapping_blocks,
		.site = b->site,
		.kind = b->kind,
		.pool = b->pool };
	mappings_tree_ring_start(s, number);
	mappings_tree_put(s, number);
	if (m)
		count_mapped(s, m, b->kind, b->end - b->start);
	else
		add(&s->header->allocator_mapped_bytes, b->end - b->start);
	return true;
}

/* Takes the piece `number` out of the tree, and puts it before `list`. */
static uint32_t list_add(const struct segment *s, uint32_t number, uint32_t list)
{
	uint64_t start = mappings_tree_at(s, number)->start;
	uint32_t taken = mappings_tree_take(s, start, start + 1);

	mappings_tree_at(s, taken)->left = list;
	return taken;
}

/* All pieces of the block of `number`, but what another call has taken just now. */
static uint32_t list_take_ring(const struct segment *s, uint32_t number)
{
	uint32_t list = 0, i = number;

	do {
		uint32_t after = mappings_tree_at(s, i)->after;

		if (!(mappings_tree_at(s, i)->kind & HT_MAPPING_LEAVING))
			list = list_add(s, i, list);
		i = after;
	} while (i != number);
	return list;
}

uint32_t mappings_table_take(const struct segment *s, uint64_t start, uint64_t end)
{
	uint32_t list = list_take(s, start, end);

	(void)list_leave(s, list);
	return list;
}

/* The block of this kind, all its pieces, that starts at `start`. */
static uint32_t take_whole(const struct segment *s, uint64_t start, enum ht_mapping_kind kind)
{
	uint32_t found = mappings_tree_floor(s, start), list = 0;

	if (found != 0 && mappings_tree_at(s, found)->start == start &&
		mappings_tree_at(s, found)->kind == kind)
		list = list_take_ring(s, found);
	(void)list_leave(s, list);
	return list;
}

uint32_t mappings_table_take_attached(const struct segment *s, uint64_t start)
{
	return take_whole(s, start, HT_MAPPING_SHM);
}

uint32_t mappings_table_take_pool(const struct segment *s, uint64_t start)
{
	return take_whole(s, start, HT_MAPPING_POOL);
}

uint32_t mappings_table_take_pools(
	const struct segment *s, uint64_t start, uint64_t end, uint32_t pool)
{
	uint32_t all = mappings_tree_take(s, start, end), list = 0, next;

	for (; all != 0; all = next) {
		struct ht_mapping *e = mappings_tree_at(s, all);

		next = e->left;
		if (e->pool == pool) {
			e->left = list;
			list = all;
		} else {
			mappings_tree_put(s, all);
		}
	}
	(void)list_leave(s, list);
	return list;
}

/* ---- what a forked child had from its parent ---- */

static bool range_touches(const struct ht_unmapped *u, uint64_t start, uint64_t end)
{
	return start <= u->end && u->start <= end;
}

/* What was noted stays: memory that was inherited is so no more, whatever is mapped there later. */
static void unmapped_note(struct ht_header *h, uint64_t start, uint64_t end)
{
	struct ht_unmapped *u = h->unmapped;
	uint32_t used = h->unmapped_used;

	if (used > HT_UNMAPPED_MAX)
		return;
	for (uint32_t i = 0; i < used; i++) {
		if (!range_touches(&u[i], start, end))
			continue;
		ht_store_relaxed_64(&u[i].start, start < u[i].start ? start : u[i].start);
		ht_store_relaxed_64(&u[i].end, end > u[i].end ? end : u[i].end);
		return;
	}
	if (used < HT_UNMAPPED_MAX)
		u[used] = (struct ht_unmapped){ start, end };
	ht_store_release_32(
		&h->unmapped_used, used < HT_UNMAPPED_MAX ? used + 1 : UINT32_MAX); /* MAPPED */
}

void mappings_table_gone(const struct segment *s, const struct mappings_gone *g)
{
	uint64_t bytes = list_leave(s, g->list);

	if (g->asked > bytes)
		ht_add_relaxed_64(&s->header->unknown_unmap_bytes, g->asked - bytes);
	if (s->header->forked && g->end - g->start > bytes)
		unmapped_note(s->header, g->start, g->end);
	list_drop(s, g->list);
}

void mappings_table_put_back(const struct segment *s, uint32_t list)
{
	list_return(s, list);
}

void mappings_table_enter(const struct segment *s, const struct mappings_block *b)
{
	missed_retire(s, b);
	if (!block_make(s, b))
		mappings_table_untracked(s, b->kind, b->end - b->start);
}
