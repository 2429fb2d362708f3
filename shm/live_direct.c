/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directly mapped part of the live table (live_direct.h). Runs inside hooks, on any thread of
 * the program. Edge ENTRY of shm/layout.h is kept in live_entry.h.
 */
#include "shm/live_direct.h"

#include "shm/live_pieces.h"

/* How far from its home a piece may be that only records that a large block is elsewhere. */
#define PROBES_MARK 2u
/*
 * Blocks of this size and more do not populate memory: the pages would hold a dozen of them at
 * most, so the overflow is smaller, and its cost is small next to that of filling such a block.
 * Smaller ones do, since small ones that come later on the same page would all be searched for in
 * the overflow, too: a buffer of a stream is often the first block of a heap.
 */
#define LARGE_BYTES HT_PAGE_SPAN
/* Pages of a group until a whole group's are taken: nearly all of a small program's heap. */
#define FIRST_PAGES 4u

/* Where an entry is, or would be. */
struct place {
	struct ht_piece *piece;
	uint64_t *entry;
	uint32_t page; /* its state must have `needs` */
	uint8_t needs;
};

static uint64_t offset_in(uint64_t addr)
{
	return addr & (HT_PIECE_BYTES - 1);
}

static uint32_t page_of(uint64_t addr)
{
	return (uint32_t)(offset_in(addr) / HT_PAGE_SPAN);
}

static uint32_t granule_of(uint64_t addr)
{
	return (uint32_t)(addr / HT_GRANULE_BYTES % (HT_LINE_BYTES / HT_GRANULE_BYTES));
}

static bool page_has(const struct ht_piece *p, uint32_t page, uint8_t needs)
{
	return (ht_page_state(ht_load_relaxed_8(&p->state[page])) & needs) == needs;
}

/* Adds bits to the state of a page, and ends its watching. Relaxed: a viewer watches pages while
 * all threads are stopped, and checks them again when they are. */
static void page_add(struct ht_piece *p, uint32_t page, uint8_t bits)
{
	uint8_t was = ht_load_relaxed_8(&p->state[page]);

	while ((ht_page_is_watched(was) || (was & bits) != bits) &&
		!ht_cas_relaxed_8(&p->state[page], &was, ht_page_state(was) | bits))
		;
}

/* Before an entry is written: its page must not be watched. The entry may be of another page than
 * the one that its block starts in. */
static void place_touch(const struct place *at)
{
	bool is_second = at->entry >= at->piece->second;
	uint64_t index = (uint64_t)(at->entry - (is_second ? at->piece->second : at->piece->first));
	uint32_t page = (uint32_t)(index / HT_PAGE_ENTRIES);

	page_add(at->piece, at->page, 0);
	page_add(at->piece, page < HT_PIECE_PAGES ? page : HT_PIECE_PAGES - 1, 0);
}

/* From `at`, where a page begins. */
static int populate(const struct segment *s, const void *at, uint64_t bytes)
{
	return commit_pages(s, (uint64_t)((const char *)at - (const char *)s->header), bytes);
}

/* Pages that are populated together. */
struct group {
	uint32_t from, pages;
};

/* The group of `page`. The first ones are small, and begin there, since a heap grows upwards. */
static struct group group_of(const struct segment *s, uint32_t page)
{
	/* Relaxed: any group is right. */
	if (ht_load_relaxed_32(&s->part[HT_REGION_PIECES].pages) >= HT_GROUP_PAGES)
		return (struct group){ page / HT_GROUP_PAGES * HT_GROUP_PAGES, HT_GROUP_PAGES };
	return (struct group){ page,
		HT_PIECE_PAGES - page < FIRST_PAGES ? HT_PIECE_PAGES - page : FIRST_PAGES };
}

/* Populates the group of `page`, and marks it. A page of first[] is usable only with the one after
 * it, the last only with the spare entries. */
static bool group_take(const struct segment *s, struct ht_piece *p, uint32_t page, uint8_t needs)
{
	struct segment_part *part = segment_part(s, HT_REGION_PIECES);
	struct group g = group_of(s, page);
	uint64_t bytes = g.pages * HT_PAGE_ENTRIES * sizeof(uint64_t);

	if (populate(s, &p->first[g.from * HT_PAGE_ENTRIES], bytes + sizeof(uint64_t)) != 0)
		return false;
	if ((needs & HT_PAGE_SECOND) != 0 &&
		populate(s, &p->second[g.from * HT_PAGE_ENTRIES], bytes) != 0)
		return false;
	for (uint32_t i = g.from; i < g.from + g.pages; i++)
		page_add(p, i, needs | HT_PAGE_FIRST);
	/* Relaxed: what two threads add at once may count once. */
	if (ht_load_relaxed_32(&part->pages) < HT_GROUP_PAGES)
		ht_store_relaxed_32(&part->pages, ht_load_relaxed_32(&part->pages) + g.pages);
	return true;
}

/* ---- places ---- */

/* The places where a block at `addr` may be, those of smaller blocks first, since live_place leaves
 * a larger one of the same address where it is. Returns their number. */
#define PLACES_MAX 3u
static unsigned places_of(const struct segment *s, uint64_t addr, struct place *out)
{
	uint64_t at = offset_in(addr), line = at / HT_LINE_BYTES;
	struct ht_piece *p = live_pieces_find(s, addr, false), *odd;
	uint32_t page = page_of(addr);
	unsigned n = 0;

	if ((addr & 7) != 0)
		return 0;
	odd = granule_of(addr) % 2 != 0 ? live_pieces_find(s, addr, true) : NULL;
	if (odd && granule_of(addr) == 1)
		out[n++] = (struct place){ odd, &odd->first[line], page, HT_PAGE_FIRST };
	if (odd && granule_of(addr) == 3)
		out[n++] = (struct place){ odd, &odd->second[line], page, HT_PAGE_SECOND };
	if (p && live_is_second(addr))
		out[n++] = (struct place){ p, live_second(p, at), page, HT_PAGE_SECOND };
	if (p)
		out[n++] = (struct place){ p, live_first(p, at), page, HT_PAGE_FIRST };
	return n;
}

/* Whether an entry of first[] may be touched: some are of a page that no block starts in. */
static bool first_has(const struct ht_piece *p, const uint64_t *entry)
{
	uint32_t page = (uint32_t)((uint64_t)(entry - p->first) / HT_PAGE_ENTRIES);

	return page == HT_PIECE_PAGES || page_has(p, page, HT_PAGE_FIRST) ||
	       (page > 0 && page_has(p, page - 1, HT_PAGE_FIRST));
}

static bool is_extended(const struct place *at, uint64_t word)
{
	return at->needs == HT_PAGE_FIRST && (word & HT_ENTRY_BLOCK) != 0 &&
	       (word >> HT_ENTRY_SIZE_SHIFT & HT_ENTRY_SIZE) == HT_ENTRY_SIZE;
}

static struct live_block block_read(const struct place *at, uint64_t word)
{
	struct live_block b = live_unpack(word);

	if (is_extended(at, word))
		b.size = ht_load_relaxed_64(at->entry + 1) >> HT_ENTRY_LONG_SHIFT;
	return b;
}

static void block_clear(const struct place *at, uint64_t word)
{
	place_touch(at);
	live_clear(at->entry);
	if (is_extended(at, word))
		ht_store_relaxed_64(at->entry + 1, 0);
}

/* Finds a block. False: it is not there. */
static bool block_at(const struct segment *s, uint64_t addr, struct place *at, uint64_t *word)
{
	struct place places[PLACES_MAX];
	unsigned n = places_of(s, addr, places);

	for (unsigned i = 0; i < n; i++) {
		if (!page_has(places[i].piece, places[i].page, places[i].needs))
			continue;
		*at = places[i];
		*word = ht_load_relaxed_64(at->entry);
		if ((*word & HT_ENTRY_WHICH) == live_which(addr))
			return true;
	}
	return false;
}

bool live_direct_find(const struct segment *s, uint64_t addr, struct live_block *out)
{
	struct place at;
	uint64_t word;

	if (!block_at(s, addr, &at, &word))
		return false;
	*out = block_read(&at, word);
	return true;
}

bool live_direct_former(const struct segment *s, uint64_t addr, struct live_block *out)
{
	struct place places[PLACES_MAX];
	unsigned n = places_of(s, addr, places);
	uint64_t word;

	for (unsigned i = 0; i < n; i++) {
		if (!page_has(places[i].piece, places[i].page, places[i].needs))
			continue;
		word = ht_load_relaxed_64(places[i].entry);
		if (word == 0 || !live_is_free(word) ||
			((word | HT_ENTRY_BLOCK) & HT_ENTRY_WHICH) != live_which(addr))
			continue;
		*out = live_unpack(word);
		if (out->size == HT_ENTRY_SIZE)
			out->size = 0;
		return true;
	}
	return false;
}

bool live_direct_take(const struct segment *s, uint64_t addr, struct live_block *out)
{
	struct place at;
	uint64_t word;

	if (!block_at(s, addr, &at, &word))
		return false;
	*out = block_read(&at, word);
	block_clear(&at, word);
	return true;
}

/* ---- insertion ---- */

/* Whether the entry before, in first[], has its size in this one. */
static bool is_extension(const struct place *at, struct place *owner, uint64_t *word)
{
	*owner = *at;
	if (at->needs != HT_PAGE_FIRST || at->entry == at->piece->first ||
		!first_has(at->piece, --owner->entry))
		return false;
	*word = ht_load_relaxed_64(owner->entry);
	return is_extended(owner, *word);
}

/* Frees an entry that a new block owns: any block there was freed unseen. */
static void entry_free(const struct place *at, struct live_block *old, unsigned *missed)
{
	uint64_t word = ht_load_relaxed_64(at->entry);
	struct place from = *at;

	if (live_is_free(word))
		return;
	if ((word & HT_ENTRY_BLOCK) != 0 || is_extension(at, &from, &word)) {
		old[(*missed)++] = block_read(&from, word);
		block_clear(&from, word);
	}
	place_touch(at);
	ht_store_relaxed_64(at->entry, 0);
}

/* The place in the odd piece for a block in granule 1 or 3; insertions then search there. */
static bool odd_place(const struct segment *s, uint64_t addr, struct place *at)
{
	page_add(at->piece, at->page, HT_PAGE_MIXED);
	at->piece = live_pieces_claim(s, addr, true, LIVE_PIECES_PROBES);
	at->needs = granule_of(addr) == 1 ? HT_PAGE_FIRST : HT_PAGE_SECOND;
	return at->piece != NULL;
}

/* The place for a block, with or without memory yet. */
static bool place_choose(const struct segment *s, uint64_t addr, uint64_t size, struct place *at)
{
	uint64_t line = offset_in(addr) / HT_LINE_BYTES;

	at->page = page_of(addr);
	at->needs = HT_PAGE_FIRST;
	at->piece = size >= LARGE_BYTES ? live_pieces_find(s, addr, false)
					: live_pieces_claim(s, addr, false, LIVE_PIECES_PROBES);
	if (!at->piece)
		return false;
	if (size < s->extent_32 && granule_of(addr) % 2 != 0) {
		if (!odd_place(s, addr, at))
			return false;
		at->entry = &at->piece->first[line];
	} else {
		if (size < s->extent_64 && live_is_second(addr))
			at->needs = HT_PAGE_SECOND;
		at->entry = live_first(at->piece, offset_in(addr));
	}
	if (at->needs == HT_PAGE_SECOND)
		at->entry = &at->piece->second[line];
	return true;
}

bool live_direct_put(const struct segment *s, uint64_t addr, const struct live_block *b,
	struct live_block *old, unsigned *missed)
{
	struct place at;

	if ((addr & 7) != 0 || b->size < s->extent_16 || !place_choose(s, addr, b->size, &at))
		return false;
	if (!page_has(at.piece, at.page, at.needs) &&
		(b->size >= LARGE_BYTES || !group_take(s, at.piece, at.page, at.needs)))
		return false;
	entry_free(&at, old, missed);
	if (b->size >= HT_ENTRY_SIZE) {
		struct place next = at;

		next.entry++;
		entry_free(&next, old, missed);
	}
	place_touch(&at);
	live_store(at.entry, addr, b->size, live_birth(b->tick), b->counter);
	return true;
}

void live_direct_mark(const struct segment *s, uint64_t addr)
{
	struct ht_piece *p = live_pieces_claim(s, addr, false, PROBES_MARK);

	if (p)
		page_add(p, page_of(addr), HT_PAGE_MIXED);
	else if (s->header->live_pieces_max != 0)
		ht_store_relaxed_32(&s->header->live_unmarked, 1);
}

static uint64_t entries_count(const uint64_t *entries, uint64_t n)
{
	uint64_t blocks = 0;

	for (uint64_t i = 0; i < n; i++)
		blocks += (ht_load_relaxed_64(&entries[i]) & HT_ENTRY_BLOCK) != 0;
	return blocks;
}

static uint64_t piece_count(const struct ht_piece *p)
{
	uint64_t blocks = entries_count(p->first + HT_PIECE_LINES, HT_PIECE_SPARE);

	for (uint32_t page = 0; page < HT_PIECE_PAGES; page++) {
		uint32_t line = page * HT_PAGE_ENTRIES;

		if (first_has(p, &p->first[line]))
			blocks += entries_count(&p->first[line], HT_PAGE_ENTRIES);
		if (page_has(p, page, HT_PAGE_SECOND))
			blocks += entries_count(&p->second[line], HT_PAGE_ENTRIES);
	}
	return blocks;
}

uint64_t live_direct_count(const struct segment *s)
{
	uint64_t blocks = 0;

	for (uint32_t i = 0; i < s->header->live_pieces_max; i++) {
		if (ht_load_relaxed_64(&s->header->pieces[i]) == 0)
			break;
		blocks += piece_count(s->pieces + i);
	}
	return blocks;
}
