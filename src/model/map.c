/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Divides an address space into areas (map.h): mappings, split by their content. map_count.c
 * counts. Pure.
 */
#include "src/model/map.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/map_rank.h"
#include "src/util/array.h"
#include "src/util/sorted.h"

/* glibc gives blocks from 128 KiB (or mallopt's threshold) mappings of their own. Smaller blocks
 * outside its heaps are in areas that it mapped when brk could not grow. */
#define OWN_MAPPING_LEAST (32u << 10)

static uint64_t page_down(uint64_t addr)
{
	return addr & ~(uint64_t)(MAP_PAGE_BYTES - 1);
}

static uint64_t page_up(uint64_t addr)
{
	return page_down(addr + MAP_PAGE_BYTES - 1);
}

/* ---- splitting ---- */

struct splitter {
	struct map *map;
	const struct map_input *in;
	struct map_piece *piece; /* those of `in`, and the ranges between them */
	size_t pieces;
	enum map_kind gap; /* what memory without blocks and pieces is */
	size_t block; /* the first one that is not passed yet */
	uint64_t pages; /* so far */
	bool failed;
};

static bool has_pages(struct splitter *c, uint64_t bytes)
{
	return !c->in->sampled && !c->in->forked &&
	       c->pages + bytes / MAP_PAGE_BYTES <= MAP_PAGES_MAX;
}

/* Appends a span; merges it with an adjacent one of the same kind, except for heaps of arenas. */
static void span_add(struct splitter *c, const struct map_span *span)
{
	struct map *m = c->map;
	struct map_span *last = m->spans ? &m->span[m->spans - 1] : NULL;
	void *p;

	if (span->start >= span->end || c->failed)
		return;
	c->pages += span->is_fine ? (span->end - span->start) / MAP_PAGE_BYTES : 0;
	if (last && last->end == span->start && last->kind == span->kind && span->is_fine &&
		last->is_fine && span->kind != MAP_ARENA && span->arena == last->arena) {
		last->end = span->end;
		last->rss_bytes += span->rss_bytes;
		return;
	}
	p = array_grow(m->span, m->spans, &m->span_capacity, sizeof(*m->span));
	if (!p) {
		c->failed = true;
		return;
	}
	m->span = p;
	m->span[m->spans++] = *span;
}

static void fine_add(struct splitter *c, uint64_t start, uint64_t end, enum map_kind kind)
{
	span_add(c, &(struct map_span){ start, end, kind, .is_fine = true });
}

/* The blocks of [start, end) begin at c->block; returns the index after the last one. */
static size_t blocks_until(const struct splitter *c, uint64_t end)
{
	size_t i = c->block;

	while (i < c->in->blocks && c->in->block[i].addr < end)
		i++;
	return i;
}

static void blocks_skip(struct splitter *c, uint64_t addr)
{
	c->block = blocks_until(c, addr);
}

static bool has_small(const struct splitter *c, size_t until)
{
	for (size_t i = c->block; i < until; i++)
		if (!c->in->glibc || c->in->block[i].size < OWN_MAPPING_LEAST)
			return true;
	return false;
}

/* Splits into blocks with mappings of their own, and the gaps between them. */
static void chunks_split(struct splitter *c, uint64_t start, uint64_t end, size_t until)
{
	uint64_t at = start;

	for (; c->block < until; c->block++) {
		const struct map_block *b = &c->in->block[c->block];
		uint64_t from = page_down(b->addr - 16), to = page_up(b->addr + b->size);

		from = from < at ? at : from;
		to = to > end || to < from ? end : to;
		fine_add(c, at, from, MAP_OTHER);
		fine_add(c, from, to, MAP_CHUNKS);
		at = to > at ? to : at;
	}
	fine_add(c, at, end, MAP_OTHER);
}

/* End of a block that began in the mapping before: madvise(2), for example for huge pages, splits
 * the mapping of a large block. */
static uint64_t reach_of_last(const struct splitter *c, uint64_t start, uint64_t end)
{
	const struct map_block *b = c->block > 0 ? &c->in->block[c->block - 1] : NULL;
	const struct map_span *last = c->map->spans > 0 ? &c->map->span[c->map->spans - 1] : NULL;

	if (!b || !last || last->end != start || !last->is_fine ||
		(last->kind != MAP_CHUNKS && last->kind != MAP_POOL) || b->addr + b->size <= start)
		return start;
	return b->addr + b->size < end ? page_up(b->addr + b->size) : end;
}

/* Splits a part of a plain mapping without known pieces. False: it is too large for a page-by-page
 * view, or has no blocks. */
static bool plain_split(struct splitter *c, uint64_t start, uint64_t end, bool forced)
{
	size_t until = blocks_until(c, end);
	uint64_t from = reach_of_last(c, start, end);

	if (!forced && ((until == c->block && from == start) || !has_pages(c, end - start)))
		return false;
	if (from > start)
		fine_add(c, start, from, c->map->span[c->map->spans - 1].kind);
	start = from;
	if (until == c->block)
		fine_add(c, start, end, c->gap);
	else if (has_small(c, until))
		fine_add(c, start, end, MAP_POOL);
	else
		chunks_split(c, start, end, until);
	c->block = until;
	return true;
}

/* ---- what the program mapped ---- */

static void piece_put(
	struct splitter *c, uint64_t start, uint64_t end, enum map_kind kind, uint64_t arena)
{
	if (start < end)
		c->piece[c->pieces++] = (struct map_piece){ start, end, kind, arena };
}

/* An allocator inside the program takes its memory by mmap(2), too: its blocks are there. */
static bool has_blocks(const struct map_input *in, uint64_t start, uint64_t end)
{
	size_t i = sorted_before(SORTED_BY(in->block, in->blocks, addr), start);

	return i < in->blocks && in->block[i].addr < end;
}

/* Puts the range where no piece is, and the pieces from *next on that begin before its end. Returns
 * the end of all that. */
static uint64_t range_put(
	struct splitter *c, const struct map_range *range, uint64_t at, size_t *next)
{
	uint64_t from = page_up(range->start), end = page_down(range->end);
	enum map_kind kind = range->site ? MAP_MAPPED : MAP_POOL;

	from = from < at ? at : from;
	for (; *next < c->in->pieces && c->in->piece[*next].start < end; ++*next) {
		const struct map_piece *p = &c->in->piece[*next];

		piece_put(c, from, p->start, kind, range->site);
		piece_put(c, p->start, p->end, p->kind, p->arena);
		from = from < p->end ? p->end : from;
	}
	piece_put(c, from, end, kind, range->site);
	return from < end ? end : from;
}

static int pieces_make(struct splitter *c)
{
	const struct map_input *in = c->in;
	uint64_t at = 0;
	size_t next = 0;

	c->piece = malloc((2 * in->pieces + in->ranges + 1) * sizeof(*c->piece));
	if (!c->piece)
		return -1;
	for (size_t i = 0; i < in->ranges; i++)
		if (!has_blocks(in, in->range[i].start, in->range[i].end))
			at = range_put(c, &in->range[i], at, &next);
	for (; next < in->pieces; next++)
		piece_put(c, in->piece[next].start, in->piece[next].end, in->piece[next].kind,
			in->piece[next].arena);
	return 0;
}

static_assert(MAP_KINDS <= MAP_RANK_KINDS, "a kind fits a key");

/* ---- mappings ---- */

/* The index of a mapping's first piece, and the number of its pieces. */
static size_t pieces_of(const struct splitter *c, const struct map_vma *v, size_t *first)
{
	size_t i = sorted_through(SORTED_BY(c->piece, c->pieces, end), v->start), n = 0;

	*first = i;
	while (i + n < c->pieces && c->piece[i + n].start < v->end)
		n++;
	return n;
}

static uint64_t piece_bytes(const struct map_piece *p, const struct map_vma *v)
{
	uint64_t from = p->start > v->start ? p->start : v->start,
		 to = p->end < v->end ? p->end : v->end;

	return to > from ? to - from : 0;
}

/* A part between pieces. */
static void gap_split(struct splitter *c, const struct map_vma *v, uint64_t start, uint64_t end)
{
	if (v->plain)
		plain_split(c, start, end, true);
	else
		fine_add(c, start, end, v->kind);
}

/* Splits a mapping into its pieces and the parts between them. */
static void pieces_split(struct splitter *c, const struct map_vma *v, size_t first, size_t count)
{
	uint64_t at = v->start;

	for (size_t i = first; i < first + count; i++) {
		const struct map_piece *p = &c->piece[i];
		uint64_t from = p->start > at ? p->start : at,
			 to = p->end < v->end ? p->end : v->end;
		double part = (double)(to - from) / (double)(v->end - v->start);

		if (from >= to)
			continue;
		if (at < from)
			gap_split(c, v, at, from);
		span_add(c, &(struct map_span){ from, to, p->kind, p->arena, .is_fine = true,
				    .rss_bytes = (uint64_t)(part * (double)v->rss_bytes) });
		blocks_skip(c, to);
		at = to;
	}
	if (at < v->end)
		gap_split(c, v, at, v->end);
}

/* What a mapping is whose pages are not read: what most of it is. The kernel joins what one call
 * site mapped in many calls. */
static void pieces_name(
	struct splitter *c, const struct map_vma *v, size_t first, size_t count, struct map_span *s)
{
	struct map_rank *sum = malloc(count * sizeof(*sum)), *most = sum;
	uint64_t mapped = 0;

	c->failed |= !sum;
	for (size_t i = 0; sum && i < count; i++) {
		const struct map_piece *p = &c->piece[first + i];

		sum[i] = (struct map_rank){ map_rank_key(p->kind, p->arena), piece_bytes(p, v), 0 };
		mapped += p->kind == MAP_MAPPED ? sum[i].bytes : 0;
	}
	count = sum ? map_rank_fold(sum, count) : 0;
	for (size_t i = 1; i < count; i++)
		if (sum[i].bytes > most->bytes)
			most = &sum[i];
	if (sum && (map_rank_kind(most) != MAP_MAPPED || mapped >= (v->end - v->start) / 2)) {
		s->kind = v->kind == MAP_SHARED ? MAP_SHARED : (enum map_kind)map_rank_kind(most);
		s->arena = most->key / MAP_RANK_KINDS;
	}
	free(sum);
}

/* Pages of shared memory may be another process's, so only whole mappings have a site. */
static bool is_whole(const struct splitter *c, const struct map_vma *v, size_t first, size_t count)
{
	return count == 1 && c->piece[first].kind == MAP_MAPPED &&
	       piece_bytes(&c->piece[first], v) == v->end - v->start;
}

static void vma_split(struct splitter *c, const struct map_vma *v)
{
	struct map_span whole = { v->start, v->end, v->kind, .rss_bytes = v->rss_bytes,
		.swap_bytes = v->swap_bytes };
	bool divides = v->plain || v->kind == MAP_BRK;
	size_t first = 0, count = divides || v->kind == MAP_SHARED ? pieces_of(c, v, &first) : 0;

	c->gap = v->kind;
	blocks_skip(c, v->start);
	if (count > 0 && !is_whole(c, v, first, count) && divides &&
		has_pages(c, v->end - v->start)) {
		pieces_split(c, v, first, count);
	} else if (count > 0 && (divides || is_whole(c, v, first, count))) {
		pieces_name(c, v, first, count, &whole);
		span_add(c, &whole);
	} else if (!v->plain || !plain_split(c, v->start, v->end, false)) {
		whole.is_fine = v->kind == MAP_BRK && has_pages(c, v->end - v->start);
		span_add(c, &whole);
	}
	blocks_skip(c, v->end);
}

/* ---- sites ---- */

static bool has_site(const struct map_span *s)
{
	return (s->kind == MAP_MAPPED || s->kind == MAP_SHARED) && s->arena != 0;
}

static uint64_t key_of(const struct map_span *s)
{
	return map_rank_key(s->kind, s->arena);
}

/* Finds the sites that have a row each. What is resident of fine spans is not known yet, but about
 * their part of the mapping. */
static int sites_rank(struct map *m)
{
	struct map_rank *r = malloc((m->spans + 1) * sizeof(*r));
	size_t count = 0;

	if (!r)
		return -1;
	for (size_t i = 0; i < m->spans; i++)
		if (has_site(&m->span[i]))
			r[count++] =
				(struct map_rank){ key_of(&m->span[i]), m->span[i].rss_bytes, 0 };
	if (count > 0) {
		count = map_rank_fold(r, count);
		map_rank_give(r, count, MAP_SITES);
	}
	for (size_t i = 0; i < m->spans; i++) {
		struct map_span *s = &m->span[i];

		if (has_site(s))
			s->rank = r[sorted_before(SORTED_BY(r, count, key), key_of(s))].rank;
		else if (s->kind == MAP_SHARED)
			s->rank = MAP_SITES;
	}
	free(r);
	return 0;
}

/* ---- rows ---- */

static int span_order(const void *pa, const void *pb)
{
	const struct map_span *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->arena != b->arena && a->kind == MAP_ARENA)
		return a->arena < b->arena ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static bool is_same_row(const struct map_row *row, const struct map_row *before)
{
	return row && row->id == before->id;
}

int map_rows_make(struct map *m)
{
	struct map_row *row = NULL;
	unsigned arenas = 0;

	m->row = calloc(m->spans + 1, sizeof(*m->row));
	if (!m->row)
		return -1;
	for (size_t i = 0; i < m->spans; i++) {
		struct map_span *s = &m->span[i];
		struct map_row is = { .kind = s->kind };

		if (has_site(s) && s->rank < MAP_SITES)
			is.site = (uint32_t)s->arena;
		is.id = (uint64_t)s->kind | (is.kind == MAP_ARENA ? s->arena : is.site) << 4;
		if (!is_same_row(row, &is)) {
			row = &m->row[m->rows++];
			*row = is;
			row->first_span = i;
			row->first_page = m->pages;
			row->number = is.kind == MAP_ARENA ? ++arenas : 0;
		}
		row->spans++;
		row->size_bytes += s->end - s->start;
		s->page = m->pages;
		if (!s->is_fine)
			continue;
		m->pages += (s->end - s->start) / MAP_PAGE_BYTES;
		row->pages = m->pages - row->first_page;
	}
	m->page = calloc(m->pages + 1, sizeof(*m->page));
	return m->page ? 0 : -1;
}

/* The power of two that the bytes reach. */
static int magnitude(uint64_t bytes)
{
	return bytes ? 64 - __builtin_clzll(bytes) : 0;
}

/* Files and heaptop's own come last, however much of them is in memory. */
static bool is_last(const struct map_row *row)
{
	return row->kind == MAP_FILE || row->kind == MAP_OWN;
}

static int row_order(const void *pa, const void *pb)
{
	const struct map_row *a = pa, *b = pb;
	int by = magnitude(b->rss_bytes) - magnitude(a->rss_bytes);

	if (is_last(a) != is_last(b))
		return is_last(a) ? 1 : -1;
	return by ? by : (a->first_span > b->first_span) - (a->first_span < b->first_span);
}

void map_rows_sort(struct map *m)
{
	if (m->rows)
		qsort(m->row, m->rows, sizeof(*m->row), row_order);
}

struct map *map_new(const struct map_input *in)
{
	struct splitter c = { .map = calloc(1, sizeof(struct map)), .in = in };

	if (!c.map)
		return NULL;
	c.map->refs = 1;
	c.failed = pieces_make(&c) != 0;
	for (size_t i = 0; i < in->vmas && !c.failed; i++)
		vma_split(&c, &in->vma[i]);
	free(c.piece);
	c.failed = c.failed || sites_rank(c.map) != 0;
	if (c.map->spans)
		qsort(c.map->span, c.map->spans, sizeof(*c.map->span), span_order);
	if (!c.failed && map_rows_make(c.map) == 0)
		return c.map;
	map_unref(c.map);
	return NULL;
}

void map_ref(struct map *m)
{
	m->refs++;
}

void map_unref(struct map *m)
{
	if (!m || --m->refs > 0)
		return;
	free(m->span);
	free(m->row);
	free(m->page);
	free(m);
}

/* ---- words ---- */

static const char *const row_names[MAP_KINDS] = {
	[MAP_BRK] = "brk heap",
	[MAP_ARENA] = "arena",
	[MAP_POOL] = "allocator pools",
	[MAP_CHUNKS] = "mmap'ed blocks",
	[MAP_MAPPED] = "mapped",
	[MAP_OTHER] = "other anonymous",
	[MAP_STACK] = "stacks",
	[MAP_FILE] = "files",
	[MAP_SHARED] = "shared memory",
	[MAP_OWN] = "heaptop's own",
};

const char *map_row_name(const struct map_row *row, char buf[48])
{
	if (row->kind == MAP_ARENA)
		snprintf(buf, 48, "arena %u", row->number);
	else if (row->kind == MAP_MAPPED && !row->site)
		snprintf(buf, 48, "mapped elsewhere");
	else if (row->spans > 1)
		snprintf(buf, 48, "%s (%zu)", row_names[row->kind], row->spans);
	else
		snprintf(buf, 48, "%s", row_names[row->kind]);
	return buf;
}

static const struct {
	const char *name, *key, *help;
} part_table[MAP_PARTS] = {
	[MAP_PART_LIVE] = { "live", "live_bytes", "live blocks, requested bytes" },
	[MAP_PART_MAPPED] = { "mmap'ed", "mapped_bytes", "live blocks with mappings of their own" },
	[MAP_PART_SLACK] = { "slack", "slack_bytes", "rounding and headers of live blocks" },
	[MAP_PART_FREE] = { "free", "free_bytes", "held by the allocator, in no live block" },
	[MAP_PART_PROGRAM] = { "mapped", "program_mapped_bytes",
		"mapped by the program itself: mmap, brk" },
	[MAP_PART_OTHER] = { "anon", "other_bytes",
		"anonymous memory of neither malloc nor a recorded mapping" },
	[MAP_PART_STACKS] = { "stacks", "stacks_bytes", "stacks of threads" },
	[MAP_PART_FILES] = { "files", "files_bytes", "the program, libraries, mapped files" },
	[MAP_PART_SHARED] = { "shared", "shared_bytes", "memory shared with other processes" },
	[MAP_PART_OWN] = { "heaptop", "heaptop_bytes", "heaptop's own: segment and library" },
};

const char *map_part_name(enum map_part part)
{
	return part_table[part].name;
}

const char *map_part_key(enum map_part part)
{
	return part_table[part].key;
}

const char *map_part_help(enum map_part part)
{
	return part_table[part].help;
}

/* ---- pages ---- */

uint64_t map_page_address(const struct map *m, const struct map_row *row, size_t page)
{
	page += row->first_page;
	for (size_t i = row->first_span; i < row->first_span + row->spans; i++) {
		const struct map_span *s = &m->span[i];
		size_t pages = (s->end - s->start) / MAP_PAGE_BYTES;

		if (s->is_fine && page < s->page + pages)
			return s->start + (page - s->page) * MAP_PAGE_BYTES;
	}
	return 0;
}

size_t map_page_at(const struct map *m, const struct map_row *row, uint64_t addr)
{
	for (size_t i = row->first_span; i < row->first_span + row->spans; i++) {
		const struct map_span *s = &m->span[i];

		if (s->is_fine && addr >= s->start && addr < s->end)
			return s->page + (addr - s->start) / MAP_PAGE_BYTES - row->first_page;
	}
	return row->pages;
}

void map_sum(const struct map *m, const struct map_row *row, size_t page, size_t count,
	struct map_sum *out)
{
	unsigned emptiest = MAP_PAGE_BYTES + 1;

	*out = (struct map_sum){ 0 };
	for (size_t i = page; i < page + count && i < row->pages; i++) {
		const struct map_page *p = &m->page[row->first_page + i];

		out->pages++;
		out->blocks += p->blocks;
		out->swapped += (p->flags & MAP_PAGE_SWAPPED) != 0;
		if (p->flags & MAP_PAGE_PRESENT) {
			out->present++;
			out->owned += p->owned;
		}
		if (p->owned > 0 && p->owned < emptiest) {
			emptiest = p->owned;
			out->site = p->site;
			out->has_site = true;
		}
	}
}
