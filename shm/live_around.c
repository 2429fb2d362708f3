/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Searches the live table for the block around an address (live_around.h): in the direct part the
 * nearest one that starts before it, since blocks do not overlap. Inside hooks, on any thread;
 * other threads change the table meanwhile, so the result is only as good as the program's own
 * order.
 */
#include "shm/live_around.h"

#include "shm/live_overflow.h"
#include "shm/live_pieces.h"

/* Pages of the table, each for 32 KB of address space, that are searched, or skipped as empty. A
 * heap has a block in nearly each; a block of gigabytes has none in many. */
#define PAGES_SEARCHED 64u
#define PAGES_SKIPPED  65536u

/* A block that starts before the address; `start` 0: none. */
struct nearest {
	uint64_t addr, start, word;
	const uint64_t *entry;
	bool is_first; /* its entry is in first[] */
};

static void consider(struct nearest *n, uint64_t line, const uint64_t *entry, bool is_first)
{
	uint64_t word = ht_load_relaxed_64(entry);
	uint64_t start = line + (word & HT_ENTRY_WHICH) - HT_ENTRY_BLOCK;

	if ((word & HT_ENTRY_BLOCK) == 0 || start >= n->addr || start < n->start)
		return;
	*n = (struct nearest){ n->addr, start, word, entry, is_first };
}

/* An entry of first[] is for the line's start, or the rest of the line before (live_first). */
static void consider_first(struct nearest *n, uint64_t line, const uint64_t *entry, bool is_rest)
{
	uint64_t low = (ht_load_relaxed_64(entry) & HT_ENTRY_WHICH) - HT_ENTRY_BLOCK;

	if ((low >= HT_GRANULE_BYTES) == is_rest)
		consider(n, line, entry, true);
}

/* The blocks that start in one line. */
static void line_search(struct nearest *n, const struct ht_piece *p, uint64_t line, uint8_t state)
{
	uint64_t index = (line & (HT_PIECE_BYTES - 1)) / HT_LINE_BYTES;

	consider_first(n, line, &p->first[index], false);
	consider_first(n, line, &p->first[index + 1], true);
	if ((state & HT_PAGE_SECOND) != 0)
		consider(n, line, &p->second[index], false);
}

static void odd_search(struct nearest *n, const struct ht_piece *p, uint64_t line, uint8_t state)
{
	uint64_t index = (line & (HT_PIECE_BYTES - 1)) / HT_LINE_BYTES;

	if ((state & HT_PAGE_FIRST) != 0)
		consider(n, line, &p->first[index], false);
	if ((state & HT_PAGE_SECOND) != 0)
		consider(n, line, &p->second[index], false);
}

static uint8_t page_state(const struct ht_piece *p, uint64_t addr)
{
	return p ? ht_page_state(ht_load_relaxed_8(
			   &p->state[(addr & (HT_PIECE_BYTES - 1)) / HT_PAGE_SPAN]))
		 : 0;
}

/* Searches the page of `at`, from its line back. False: nothing may be read there. */
static bool page_search(const struct segment *s, struct nearest *n, uint64_t at)
{
	const struct ht_piece *p = live_pieces_find(s, at, false),
			      *odd = live_pieces_find(s, at, true);
	uint8_t state = page_state(p, at), odd_state = page_state(odd, at);
	uint64_t from = at & ~(uint64_t)(HT_PAGE_SPAN - 1);

	if (((state | odd_state) & HT_PAGE_FIRST) == 0)
		return false;
	for (uint64_t line = at & ~(uint64_t)(HT_LINE_BYTES - 1); n->start == 0;
		line -= HT_LINE_BYTES) {
		if ((state & HT_PAGE_FIRST) != 0)
			line_search(n, p, line, state);
		if (odd_state != 0)
			odd_search(n, odd, line, odd_state);
		if (line == from)
			break;
	}
	return true;
}

static struct live_block block_of(const struct nearest *n)
{
	struct live_block b = live_unpack(n->word);

	if (b.size == HT_ENTRY_SIZE && n->is_first)
		b.size = ht_load_relaxed_64(n->entry + 1) >> HT_ENTRY_LONG_SHIFT;
	return b;
}

static bool direct_around(
	const struct segment *s, uint64_t addr, struct live_block *out, uint64_t *start)
{
	uint64_t at = addr;
	struct nearest n = { .addr = addr };
	uint32_t searched = 0;

	for (uint32_t i = 0; i < PAGES_SKIPPED && searched < PAGES_SEARCHED && n.start == 0; i++) {
		searched += page_search(s, &n, at);
		if (at < HT_PAGE_SPAN)
			break;
		at = (at & ~(uint64_t)(HT_PAGE_SPAN - 1)) - 1;
	}
	if (n.start == 0)
		return false;
	*out = block_of(&n);
	*start = n.start;
	return addr - n.start < out->size;
}

bool live_around(const struct segment *s, uint64_t addr, bool thorough, struct live_block *out,
	uint64_t *start)
{
	return direct_around(s, addr, out, start) ||
	       (thorough && live_overflow_around(s, addr, out, start));
}
