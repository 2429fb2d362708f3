/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts the content of the pages of a map (map.h): one pass over the blocks in address order, so
 * that a page is complete when the pass leaves it. Pure.
 */
#include <errno.h>
#include <stdlib.h>

#include "src/model/map.h"
#include "src/util/sorted.h"

/* Chunks of glibc: a header of 8 bytes, sizes in steps of 16, at least 32. */
#define HEADER_BYTES 8u
#define CHUNK_ALIGN  16u
#define CHUNK_LEAST  32u
/* The header of a free chunk stays: malloc_trim returns only whole pages after it. It begins 8
 * bytes before the end of the block before it. */
#define FREE_HEADER 40u
/* The most blocks on a page. There may be more entries if threads allocated while the table was
 * read; these are ignored. */
#define PAGE_BLOCKS (MAP_PAGE_BYTES / 8 + 2)

struct on_page {
	uint32_t site;
	uint16_t bytes;
	uint8_t class;
};

struct site_sum {
	struct map_pin pin;
	size_t stamp; /* the last page it was seen on, + 1 */
	uint32_t here; /* its bytes on that page */
};

struct counter {
	struct map *map;
	const struct map_input *in;
	struct map_row *row;
	struct map_span *span;
	uint64_t end; /* end of the last block in the span */
	size_t page; /* the current page */
	struct on_page on[PAGE_BLOCKS];
	unsigned count; /* number of entries in `on` */
	struct site_sum *site;
	size_t sites;
};

/* ---- pages of zeros ---- */

/*
 * A page that was read but never written is the kernel's zero page (2 MB with huge pages). pagemap
 * reports it as present, but it belongs to no process and is not in RSS. It looks like a page
 * shared since a fork. The mapping's RSS gives the number of zero pages, so the sum is right even
 * if the choice of pages is not.
 */
typedef void page_visit(struct map_page *page, uint64_t *surplus);

static void page_count(struct map_page *page, uint64_t *surplus)
{
	*surplus += page->flags & MAP_PAGE_PRESENT ? MAP_PAGE_BYTES : 0;
}

static void page_forget(struct map_page *page, uint64_t *surplus)
{
	if (*surplus < MAP_PAGE_BYTES || !(page->flags & MAP_PAGE_PRESENT) ||
		!(page->flags & MAP_PAGE_SHARED))
		return;
	page->flags &= (uint8_t)~MAP_PAGE_PRESENT;
	*surplus -= MAP_PAGE_BYTES;
}

/* Visits all pages of a span, each with its mapping's surplus. */
static void span_visit(struct map *m, const struct map_input *in, const struct map_span *s,
	page_visit *visit, uint64_t *surplus)
{
	size_t v = sorted_through(SORTED_BY(in->vma, in->vmas, end), s->start);

	for (uint64_t at = s->start; at < s->end && v < in->vmas; at += MAP_PAGE_BYTES) {
		while (v < in->vmas && in->vma[v].end <= at)
			v++;
		if (v < in->vmas && in->vma[v].start <= at)
			visit(&m->page[s->page + (at - s->start) / MAP_PAGE_BYTES], &surplus[v]);
	}
}

static void spans_visit(
	struct map *m, const struct map_input *in, page_visit *visit, uint64_t *surplus)
{
	for (size_t i = 0; i < m->spans; i++)
		if (m->span[i].is_fine)
			span_visit(m, in, &m->span[i], visit, surplus);
}

static int zeros_forget(struct map *m, const struct map_input *in)
{
	uint64_t *surplus = calloc(in->vmas + 1, sizeof(*surplus));

	if (!surplus)
		return -ENOMEM;
	spans_visit(m, in, page_count, surplus);
	for (size_t v = 0; v < in->vmas; v++)
		surplus[v] -= surplus[v] < in->vma[v].rss_bytes ? surplus[v] : in->vma[v].rss_bytes;
	spans_visit(m, in, page_forget, surplus);
	free(surplus);
	return 0;
}

/* ---- kinds ---- */

static bool is_heap(enum map_kind kind)
{
	return kind == MAP_BRK || kind == MAP_ARENA || kind == MAP_POOL;
}

/* ---- pages ---- */

static void site_note(struct counter *c, const struct on_page *o, uint64_t waste, uint64_t owned)
{
	struct site_sum *s = &c->site[o->site];
	uint64_t cost = waste * o->bytes / owned;

	if (s->stamp != c->page + 1) {
		s->stamp = c->page + 1;
		s->here = 0;
		s->pin.pages++;
	}
	s->here += o->bytes;
	s->pin.live_bytes += o->bytes;
	s->pin.cost_bytes += cost;
	c->map->class[o->class].cost_bytes += cost;
}

/* Sets the page's main site, and its pins if it is nearly empty. */
static void page_leave(struct counter *c)
{
	struct map_page *p = &c->map->page[c->page];
	uint32_t most = 0;
	bool is_pinned = is_heap(c->span->kind) && (p->flags & MAP_PAGE_PRESENT) &&
			 p->owned < MAP_PAGE_BYTES / 2;
	bool alone = true;

	for (unsigned i = 0; i < c->count; i++) {
		const struct on_page *o = &c->on[i];

		alone = alone && o->site == c->on[0].site;
		if (is_pinned)
			site_note(c, o, MAP_PAGE_BYTES - p->owned, p->owned);
		if ((is_pinned ? c->site[o->site].here : o->bytes) > most) {
			most = is_pinned ? c->site[o->site].here : o->bytes;
			p->site = o->site;
		}
	}
	if (c->count > 0 && is_pinned) {
		c->map->account.pinned_pages++;
		c->map->account.pinned_bytes += MAP_PAGE_BYTES - p->owned;
		c->site[c->on[0].site].pin.alone += alone;
	}
	c->count = 0;
}

static void page_enter(struct counter *c, size_t page)
{
	if (page == c->page)
		return;
	if (c->count > 0)
		page_leave(c);
	c->page = page;
}

static uint64_t overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	uint64_t from = a > b ? a : b, to = a_end < b_end ? a_end : b_end;

	return to > from ? to - from : 0;
}

/* Adds a block to one of its pages, where it takes [from, to). */
static void page_add(
	struct counter *c, const struct map_block *b, uint64_t from, uint64_t to, unsigned class)
{
	struct map_page *p;
	uint64_t asked = overlap(from, to, b->addr, b->addr + b->size);

	page_enter(c, c->span->page + (from - c->span->start) / MAP_PAGE_BYTES);
	p = &c->map->page[c->page];
	p->owned = (uint16_t)(p->owned + (to - from));
	p->blocks += p->blocks < UINT8_MAX;
	if (c->count < PAGE_BLOCKS)
		c->on[c->count++] =
			(struct on_page){ b->site, (uint16_t)(to - from), (uint8_t) class };
	if (!(p->flags & MAP_PAGE_PRESENT))
		return;
	c->row->live_bytes += asked;
	c->row->slack_bytes += to - from - asked;
}

/* ---- gaps ---- */

/* Bytes of whole pages of [from, to) that are in memory. */
static uint64_t whole_pages(const struct counter *c, uint64_t from, uint64_t to)
{
	uint64_t first = (from - c->span->start + MAP_PAGE_BYTES - 1) / MAP_PAGE_BYTES;
	uint64_t end = (to - c->span->start) / MAP_PAGE_BYTES, bytes = 0;

	for (uint64_t i = first; i < end; i++)
		if (c->map->page[c->span->page + i].flags & MAP_PAGE_PRESENT)
			bytes += MAP_PAGE_BYTES;
	return bytes;
}

/* Adds the free range up to `to`; the last one of a span is the arena's top. */
static void gap_add(struct counter *c, uint64_t to, bool is_last)
{
	uint64_t from = c->end, bytes;

	if (!c->in->glibc || !is_heap(c->span->kind) || from >= to)
		return;
	/* A heap begins with malloc's own data. */
	from += from == c->span->start ? MAP_PAGE_BYTES : FREE_HEADER;
	bytes = from < to ? whole_pages(c, from, to) : 0;
	if (is_last && c->span->kind == MAP_ARENA)
		c->map->account.top_bytes += bytes;
	else
		c->map->account.trim_bytes += bytes;
}

/* ---- blocks ---- */

/* The range that a block takes: [*from, *to). */
static void block_extent(
	const struct counter *c, const struct map_block *b, uint64_t *from, uint64_t *to)
{
	uint64_t bytes;

	*from = b->addr;
	*to = b->addr + (b->size ? b->size : 1);
	if (c->span->kind == MAP_CHUNKS) {
		*from = (b->addr - 2 * HEADER_BYTES) & ~(uint64_t)(MAP_PAGE_BYTES - 1);
		*to = (*to + MAP_PAGE_BYTES - 1) & ~(uint64_t)(MAP_PAGE_BYTES - 1);
	} else if (c->in->glibc) {
		bytes = (b->size + HEADER_BYTES + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
		*from = b->addr - HEADER_BYTES;
		*to = *from + (bytes < CHUNK_LEAST ? CHUNK_LEAST : bytes);
	}
}

/* `next`: the address of the next block. Overlapping blocks did not exist at the same time. */
static void block_add(struct counter *c, const struct map_block *b, uint64_t next)
{
	unsigned class = snap_size_bucket(b->size);
	uint64_t from, to, header = c->in->glibc && c->span->kind != MAP_CHUNKS ? HEADER_BYTES : 0;

	block_extent(c, b, &from, &to);
	from = from < c->end ? c->end : from;
	to = to > c->span->end || to < from ? c->span->end : to;
	if (c->span->kind != MAP_CHUNKS && to > next - header && next - header > from)
		to = next - header;
	if (from >= to)
		return;
	gap_add(c, from, false);
	c->row->blocks++;
	c->map->class[class].blocks++;
	c->map->class[class].live_bytes += b->size;
	c->map->class[class].slack_bytes += to - from > b->size ? to - from - b->size : 0;
	c->end = to;
	while (from < to) {
		uint64_t page_end = (from | (MAP_PAGE_BYTES - 1)) + 1;

		page_end = page_end < to ? page_end : to;
		page_add(c, b, from, page_end, class);
		from = page_end;
	}
}

static size_t block_first(const struct map_input *in, uint64_t addr)
{
	return sorted_before(SORTED_BY(in->block, in->blocks, addr), addr);
}

static void span_count(struct counter *c)
{
	size_t i = block_first(c->in, c->span->start);

	c->end = c->span->start;
	c->page = SIZE_MAX;
	c->count = 0;
	for (; i < c->in->blocks && c->in->block[i].addr < c->span->end; i++)
		block_add(c, &c->in->block[i],
			i + 1 < c->in->blocks ? c->in->block[i + 1].addr : UINT64_MAX);
	if (c->count > 0)
		page_leave(c);
	gap_add(c, c->span->end, true);
}

/* ---- sums ---- */

static void span_resident(struct map *m, struct map_span *s)
{
	size_t pages = (s->end - s->start) / MAP_PAGE_BYTES;

	if (!s->is_fine)
		return;
	s->rss_bytes = s->swap_bytes = 0;
	for (size_t i = 0; i < pages; i++) {
		s->rss_bytes += m->page[s->page + i].flags & MAP_PAGE_PRESENT ? MAP_PAGE_BYTES : 0;
		s->swap_bytes += m->page[s->page + i].flags & MAP_PAGE_SWAPPED ? MAP_PAGE_BYTES : 0;
	}
}

static int pin_order(const void *pa, const void *pb)
{
	const struct site_sum *a = pa, *b = pb;

	if (a->pin.cost_bytes != b->pin.cost_bytes)
		return a->pin.cost_bytes < b->pin.cost_bytes ? 1 : -1;
	return a->pin.site < b->pin.site ? -1 : a->pin.site > b->pin.site;
}

static void pins_take(struct counter *c)
{
	struct map_account *a = &c->map->account;
	size_t kept = 0;

	for (size_t i = 0; i < c->sites; i++) {
		c->site[i].pin.site = (uint32_t)i;
		if (c->site[i].pin.pages > 0)
			c->site[kept++] = c->site[i];
	}
	if (kept > 0)
		qsort(c->site, kept, sizeof(*c->site), pin_order);
	for (a->pins = 0; a->pins < MAP_PINS && a->pins < kept; a->pins++)
		a->pin[a->pins] = c->site[a->pins].pin;
}

static const enum map_part part_of[MAP_KINDS] = {
	[MAP_BRK] = MAP_PART_FREE,
	[MAP_ARENA] = MAP_PART_FREE,
	[MAP_POOL] = MAP_PART_FREE,
	[MAP_CHUNKS] = MAP_PART_FREE,
	[MAP_MAPPED] = MAP_PART_PROGRAM,
	[MAP_OTHER] = MAP_PART_OTHER,
	[MAP_STACK] = MAP_PART_STACKS,
	[MAP_FILE] = MAP_PART_FILES,
	[MAP_SHARED] = MAP_PART_SHARED,
	[MAP_OWN] = MAP_PART_OWN,
};

/* The part of a row that is in blocks is not free. */
static void row_account(struct map_account *a, const struct map_row *row)
{
	uint64_t taken = row->live_bytes + row->slack_bytes;

	a->rss_bytes += row->rss_bytes;
	a->swap_bytes += row->swap_bytes;
	a->part[part_of[row->kind]] += row->rss_bytes - taken;
	a->part[row->kind == MAP_CHUNKS ? MAP_PART_MAPPED : MAP_PART_LIVE] += row->live_bytes;
	a->part[MAP_PART_SLACK] += row->slack_bytes;
}

/* If not all blocks are known: live bytes are given, and the rest of the allocator's memory is not
 * divided. */
static void account_estimate(struct map_account *a, uint64_t live)
{
	uint64_t all = a->part[MAP_PART_FREE] + a->part[MAP_PART_OTHER];

	a->part[MAP_PART_LIVE] = live < all ? live : all;
	a->part[MAP_PART_OTHER] = all - a->part[MAP_PART_LIVE];
	a->part[MAP_PART_FREE] = 0;
	a->live_bytes = live;
}

static void site_account(struct map_account *a, const struct map_row *row)
{
	unsigned i;

	if (!row->site || a->sites >= 2 * MAP_SITES)
		return;
	for (i = a->sites++; i > 0 && a->site[i - 1].rss_bytes < row->rss_bytes; i--)
		a->site[i] = a->site[i - 1];
	a->site[i] = (struct map_site){ row->site, row->kind == MAP_SHARED, row->rss_bytes,
		row->size_bytes };
}

static void rows_count(struct counter *c)
{
	struct map *m = c->map;

	for (size_t r = 0; r < m->rows; r++) {
		c->row = &m->row[r];
		for (size_t i = 0; i < c->row->spans; i++) {
			c->span = &m->span[c->row->first_span + i];
			span_resident(m, c->span);
			c->row->rss_bytes += c->span->rss_bytes;
			c->row->swap_bytes += c->span->swap_bytes;
			if (c->span->is_fine)
				span_count(c);
		}
		row_account(&m->account, c->row);
		site_account(&m->account, c->row);
		if (!is_heap(c->row->kind) && c->row->kind != MAP_CHUNKS)
			c->row->pages = 0; /* not shown page by page */
	}
}

int map_count(struct map *m, const struct map_input *in)
{
	struct counter *c = zeros_forget(m, in) == 0 ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return -ENOMEM;
	c->map = m;
	c->in = in;
	for (size_t i = 0; i < in->blocks; i++) {
		m->account.live_bytes += in->block[i].size;
		if (in->block[i].site >= c->sites)
			c->sites = (size_t)in->block[i].site + 1;
	}
	c->site = calloc(c->sites + 1, sizeof(*c->site));
	if (!c->site) {
		free(c);
		return -ENOMEM;
	}
	rows_count(c);
	pins_take(c);
	m->account.known = true;
	m->account.glibc = in->glibc;
	m->account.sampled = in->sampled;
	m->account.forked = in->forked;
	if (in->sampled || in->forked)
		account_estimate(&m->account, in->live_bytes);
	free(c->site);
	free(c);
	return 0;
}
