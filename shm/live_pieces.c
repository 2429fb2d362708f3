/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding and creating pieces of the live table (live_pieces.h). Runs inside hooks, on any thread
 * of the program. Edge PLACE of shm/layout.h: a thread that sees a place's tag sees the piece's
 * address.
 */
#include "shm/live_pieces.h"

static uint32_t piece_number(const struct segment *s, const struct ht_piece *p)
{
	return (uint32_t)(p - s->pieces);
}

/* Odd pieces begin their search half a table away, apart from the others. */
static struct segment_place *place_at(
	const struct segment *s, uint64_t addr, bool odd, uint32_t probe)
{
	uint64_t key = (addr >> HT_PIECE_SHIFT) + (odd ? (s->piece_mask + 1) / 2 : 0);

	return &s->places[(key + probe) & s->piece_mask];
}

static struct ht_piece *place_piece(const struct segment_place *place)
{
	/* Relaxed: the list identifies the piece; a thread that does not see it here yet reaches it
	 * when it wants to add it. */
	return (struct ht_piece *)(uintptr_t)ht_load_relaxed_64(&place->piece);
}

static uint64_t list_tag(const struct segment *s, const struct ht_piece *p)
{
	return ht_load_relaxed_64(&s->header->pieces[piece_number(s, p)]);
}

/* Publishes a piece that is in its place. */
static void place_publish(struct segment_place *place, uint64_t tag)
{
	ht_store_release_64(&place->tag, tag); /* PLACE */
}

struct ht_piece *live_pieces_find(const struct segment *s, uint64_t addr, bool odd)
{
	uint64_t want = live_pieces_tag(addr, odd);

	for (uint32_t i = 0; i < LIVE_PIECES_PROBES && i <= s->piece_mask; i++) {
		struct segment_place *place = place_at(s, addr, odd, i);
		struct ht_piece *p = place_piece(place);

		if (!p)
			break;
		if (list_tag(s, p) != want)
			continue;
		/* The thread that put it there may never publish it. */
		if (ht_load_relaxed_64(&place->tag) == 0)
			place_publish(place, want);
		return p;
	}
	return NULL;
}

/* Commits a piece's state[] and spare entries, so that they may be touched. */
static bool piece_populate(const struct segment *s, const struct ht_piece *p)
{
	uint64_t at = (uint64_t)((const char *)&p->first[HT_PIECE_LINES] - (const char *)s->header);

	return commit_pages(s, at,
		       offsetof(struct ht_piece, reserved) -
			       offsetof(struct ht_piece, first[HT_PIECE_LINES])) == 0;
}

/* Whether the list may be read at `i`. It begins in a page of the header that is there. */
static bool list_reach(const struct segment *s, uint32_t i)
{
	uint64_t at = offsetof(struct ht_header, pieces) + i * sizeof(s->header->pieces[0]);

	return i == 0 || at % COMMIT_PAGE != 0 || commit_header(s, at, 1) == 0;
}

/* The piece of a tag in the list, added at its end if missing. Memory comes first: a lack of memory
 * must not use up the list. NULL: no memory, or the list is full. */
static struct ht_piece *list_take(const struct segment *s, uint64_t want)
{
	for (uint32_t i = 0; i < s->header->live_pieces_max; i++) {
		uint64_t *tag = &s->header->pieces[i], found;

		if (!list_reach(s, i))
			return NULL;
		found = ht_load_relaxed_64(tag);
		if (found == 0) {
			if (!piece_populate(s, s->pieces + i))
				return NULL;
			/* Relaxed: memory that exists for this thread exists for every thread. */
			if (ht_cas_relaxed_64(tag, &found, want))
				return s->pieces + i;
		}
		if (found == want)
			return s->pieces + i;
	}
	return NULL;
}

/* Blocks of these addresses may be in the overflow, from before the piece existed. */
static void piece_mix(const struct segment *s, struct ht_piece *p)
{
	if (!ht_load_relaxed_32(&s->header->live_unmarked))
		return;
	for (uint32_t page = 0; page < HT_PIECE_PAGES; page++) {
		uint8_t was = ht_load_relaxed_8(&p->state[page]);

		while ((was & HT_PAGE_MIXED) == 0 &&
			!ht_cas_relaxed_8(&p->state[page], &was, was | HT_PAGE_MIXED))
			;
	}
}

/* Puts a piece into the first free one of its places. If another thread has just taken that place
 * for this very piece, it serves as well. */
static bool place_take(const struct segment *s, struct ht_piece *p, uint64_t tag, uint32_t probes)
{
	bool odd = (tag & HT_PIECE_ODD) != 0;

	for (uint32_t i = 0; i < probes && i <= s->piece_mask; i++) {
		struct segment_place *place = place_at(s, tag, odd, i);
		uint64_t mine = (uint64_t)(uintptr_t)p, found = 0;

		if (!ht_cas_relaxed_64(&place->piece, &found, mine) && found != mine)
			continue;
		place_publish(place, tag);
		return true;
	}
	return false;
}

/* Whether a place is left for a piece of this tag. */
static bool has_room(const struct segment *s, uint64_t tag, uint32_t probes)
{
	for (uint32_t i = 0; i < probes && i <= s->piece_mask; i++)
		if (!place_piece(place_at(s, tag, (tag & HT_PIECE_ODD) != 0, i)))
			return true;
	return false;
}

struct ht_piece *live_pieces_claim(
	const struct segment *s, uint64_t addr, bool odd, uint32_t probes)
{
	struct ht_piece *p = live_pieces_find(s, addr, odd);
	uint64_t tag = live_pieces_tag(addr, odd);

	if (p || s->header->live_pieces_max == 0 || !has_room(s, tag, probes))
		return p;
	p = list_take(s, tag);
	if (!p)
		return NULL;
	piece_mix(s, p);
	return place_take(s, p, tag, probes) ? p : NULL;
}

void live_pieces_adopt(const struct segment *s, uint32_t number)
{
	place_take(s, s->pieces + number, ht_load_relaxed_64(&s->header->pieces[number]),
		LIVE_PIECES_PROBES);
}
