/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps as bytes (map_bytes.h): the account, the spans, what is counted of the rows, which follow
 * from the spans, and runs of equal pages.
 */
#include "src/memory/map_bytes.h"

#include <stdlib.h>

#include "src/memory/map_texts.h"

#define FLAGS_ALL  7u /* enum map_page_flag */
#define SPAN_LEAST 8u /* bytes that a span takes */

/* ---- the account ---- */

enum { KNOWN, GONE, SAMPLED, FORKED, GLIBC, ALLOCATOR_KNOWN, BITS };

static void bits_put(struct bytes *b, const struct map_account *a)
{
	const bool is[BITS] = { a->known, a->gone, a->sampled, a->forked, a->glibc,
		a->allocator_known };
	unsigned bits = 0;

	for (unsigned i = 0; i < BITS; i++)
		bits |= (unsigned)is[i] << i;
	bytes_number(b, bits);
}

static void bits_get(struct bytes_cursor *c, struct map_account *a)
{
	unsigned bits = (unsigned)bytes_read_below(c, (1u << BITS) - 1);

	a->known = bits & 1u << KNOWN;
	a->gone = bits & 1u << GONE;
	a->sampled = bits & 1u << SAMPLED;
	a->forked = bits & 1u << FORKED;
	a->glibc = bits & 1u << GLIBC;
	a->allocator_known = bits & 1u << ALLOCATOR_KNOWN;
}

/* Both directions in one list, so that they agree. */
#define MEMORY_NUMBERS(X) X(rss_bytes) X(swap_bytes) X(live_bytes) X(trim_bytes) X(top_bytes)
#define PINNED_NUMBERS(X) X(pinned_pages) X(pinned_bytes)
#define READ_NUMBERS(X)	  X(read_realtime_ns) X(took_ns) X(cpu_ns)
#define PIN_NUMBERS(X)	  X(pages) X(alone) X(live_bytes) X(cost_bytes)
#define CLASS_NUMBERS(X)  X(blocks) X(live_bytes) X(slack_bytes) X(cost_bytes)
#define ROW_NUMBERS(X)	  X(rss_bytes) X(swap_bytes) X(live_bytes) X(slack_bytes) X(blocks)
#define PUT(field)	  bytes_number(b, of->field);
#define GET(field)	  of->field = bytes_read(c);

static void account_put(struct bytes *b, const struct map_account *of)
{
	bits_put(b, of);
	bytes_number(b, map_texts_number(of->why));
	bytes_number(b, map_texts_number(of->note));
	MEMORY_NUMBERS(PUT)
	PINNED_NUMBERS(PUT)
	READ_NUMBERS(PUT)
	for (unsigned i = 0; i < MAP_PARTS; i++)
		bytes_number(b, of->part[i]);
}

static void account_get(struct bytes_cursor *c, struct map_account *of)
{
	bits_get(c, of);
	of->why = map_texts[bytes_read_below(c, MAP_TEXTS - 1)];
	of->note = map_texts[bytes_read_below(c, MAP_TEXTS - 1)];
	MEMORY_NUMBERS(GET)
	PINNED_NUMBERS(GET)
	READ_NUMBERS(GET)
	for (unsigned i = 0; i < MAP_PARTS; i++)
		of->part[i] = bytes_read(c);
	if (!of->known && !of->why)
		of->why = map_texts[MAP_TEXT_UNREADABLE];
}

static void pins_put(struct bytes *b, const struct map_account *a)
{
	bytes_number(b, a->pins);
	for (const struct map_pin *of = a->pin; of < a->pin + a->pins; of++) {
		bytes_number(b, of->site);
		PIN_NUMBERS(PUT)
	}
	bytes_number(b, a->sites);
	for (const struct map_site *of = a->site; of < a->site + a->sites; of++) {
		bytes_number(b, of->site);
		bytes_number(b, of->shared);
		bytes_number(b, of->rss_bytes);
		bytes_number(b, of->size_bytes);
	}
}

static void pins_get(struct bytes_cursor *c, struct map_account *a)
{
	a->pins = (unsigned)bytes_read_below(c, MAP_PINS);
	for (struct map_pin *of = a->pin; of < a->pin + a->pins; of++) {
		of->site = (uint32_t)bytes_read_below(c, UINT32_MAX);
		PIN_NUMBERS(GET)
	}
	a->sites = (unsigned)bytes_read_below(c, (uint64_t)2 * MAP_SITES);
	for (struct map_site *of = a->site; of < a->site + a->sites; of++) {
		of->site = (uint32_t)bytes_read_below(c, UINT32_MAX);
		of->shared = bytes_read_below(c, 1) != 0;
		of->rss_bytes = bytes_read(c);
		of->size_bytes = bytes_read(c);
	}
}

/* ---- spans ---- */

static void span_put(struct bytes *b, const struct map_span *s, uint64_t before)
{
	bytes_change(b, s->start / MAP_PAGE_BYTES - before / MAP_PAGE_BYTES);
	bytes_number(b, (s->end - s->start) / MAP_PAGE_BYTES);
	bytes_number(b, s->kind);
	bytes_number(b, s->arena);
	bytes_number(b, s->rank);
	bytes_number(b, s->is_fine);
	bytes_number(b, s->rss_bytes);
	bytes_number(b, s->swap_bytes);
}

static void span_get(struct bytes_cursor *c, struct map_span *s, uint64_t before)
{
	uint64_t at = before / MAP_PAGE_BYTES + bytes_read_change(c), pages;

	pages = bytes_read_below(c, UINT64_MAX / MAP_PAGE_BYTES);
	c->bad = c->bad || pages == 0 || at > UINT64_MAX / MAP_PAGE_BYTES - pages;
	s->start = at * MAP_PAGE_BYTES;
	s->end = (at + pages) * MAP_PAGE_BYTES;
	s->kind = (enum map_kind)bytes_read_below(c, MAP_KINDS - 1);
	s->arena = bytes_read(c);
	s->rank = (unsigned)bytes_read_below(c, MAP_SITES);
	s->is_fine = bytes_read_below(c, 1) != 0;
	s->rss_bytes = bytes_read(c);
	s->swap_bytes = bytes_read(c);
}

static void spans_put(struct bytes *b, const struct map *m)
{
	uint64_t before = 0;

	bytes_number(b, m->spans);
	for (size_t i = 0; i < m->spans; i++) {
		span_put(b, &m->span[i], before);
		before = m->span[i].end;
	}
}

/* No more of them than the bytes can hold, and no more pages than any map has. */
static void spans_get(struct bytes_cursor *c, struct map *m)
{
	uint64_t count = bytes_read_below(c, (size_t)(c->end - c->at) / SPAN_LEAST), pages = 0;
	uint64_t before = 0;

	m->span = calloc(count + 1, sizeof(*m->span));
	c->bad = c->bad || !m->span;
	for (; m->spans < count && !c->bad; m->spans++) {
		struct map_span *s = &m->span[m->spans];

		span_get(c, s, before);
		before = s->end;
		pages += s->is_fine && !c->bad ? (s->end - s->start) / MAP_PAGE_BYTES : 0;
		c->bad = c->bad || pages > MAP_PAGES_MAX;
	}
}

static void rows_put(struct bytes *b, const struct map *m)
{
	for (const struct map_row *of = m->row; of < m->row + m->rows; of++) {
		bytes_number(b, of->pages > 0); /* some are not shown page by page */
		ROW_NUMBERS(PUT)
	}
	for (const struct map_class *of = m->class; of < m->class + SNAP_SIZE_BUCKETS; of++) {
		CLASS_NUMBERS(PUT)
	}
}

static void rows_get(struct bytes_cursor *c, struct map *m)
{
	for (struct map_row *of = m->row; of < m->row + m->rows; of++) {
		of->pages = bytes_read_below(c, 1) ? of->pages : 0;
		ROW_NUMBERS(GET)
	}
	for (struct map_class *of = m->class; of < m->class + SNAP_SIZE_BUCKETS; of++) {
		CLASS_NUMBERS(GET)
	}
}

/* ---- pages ---- */

static bool is_equal(const struct map_page *a, const struct map_page *b)
{
	return a->owned == b->owned && a->flags == b->flags && a->blocks == b->blocks &&
	       (a->owned == 0 || a->site == b->site);
}

static void pages_put(struct bytes *b, const struct map *m)
{
	for (size_t at = 0, n; at < m->pages; at += n) {
		const struct map_page *p = &m->page[at];

		for (n = 1; at + n < m->pages && is_equal(p, &m->page[at + n]);)
			n++;
		bytes_number(b, n);
		bytes_number(b, p->owned);
		bytes_number(b, (unsigned)p->blocks << 3 | p->flags);
		if (p->owned)
			bytes_number(b, p->site);
	}
}

static void pages_get(struct bytes_cursor *c, struct map *m)
{
	for (size_t at = 0; at < m->pages && !c->bad;) {
		size_t n = bytes_read_below(c, m->pages - at);
		uint64_t owned = bytes_read_below(c, MAP_PAGE_BYTES);
		uint64_t rest = bytes_read_below(c, UINT8_MAX << 3 | FLAGS_ALL);
		struct map_page p = { .owned = (uint16_t)owned,
			.flags = rest & FLAGS_ALL,
			.blocks = (uint8_t)(rest >> 3) };

		p.site = owned ? (uint32_t)bytes_read_below(c, UINT32_MAX) : 0;
		c->bad = c->bad || n == 0;
		for (; n > 0 && !c->bad; n--)
			m->page[at++] = p;
	}
}

/* ---- all ---- */

void map_bytes_put(struct bytes *b, const struct map *m)
{
	account_put(b, &m->account);
	pins_put(b, &m->account);
	spans_put(b, m);
	rows_put(b, m);
	pages_put(b, m);
}

struct map *map_bytes_get(struct bytes_cursor *c)
{
	struct map *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->refs = 1;
	account_get(c, &m->account);
	pins_get(c, &m->account);
	spans_get(c, m);
	c->bad = c->bad || map_rows_make(m) != 0;
	if (!c->bad)
		rows_get(c, m);
	if (!c->bad)
		pages_get(c, m);
	if (!c->bad && c->at == c->end)
		return m;
	map_unref(m);
	return NULL;
}
