/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the piece of the live table that covers an address. Pieces are allocated in order, so that
 * the file and its mapping grow at their end: header.pieces[] has their tags, each tag once,
 * without a gap. Searching that list is slow; `places` in struct segment, memory of this process
 * only, is a hash of it. Nothing is ever removed from either.
 *
 * Any thread may create pieces, inside hooks. Each step is one swap that only one thread can win;
 * all others then see it, or finish it, whether the winner continues or not.
 */
#ifndef SHM_LIVE_PIECES_H
#define SHM_LIVE_PIECES_H

#include "shm/commit.h"

/* The tag of the piece for an address; `odd`: the one for granules 1 and 3. */
static inline uint64_t live_pieces_tag(uint64_t addr, bool odd)
{
	return (addr & ~(HT_PIECE_BYTES - 1)) | HT_PIECE_USED | (odd ? HT_PIECE_ODD : 0);
}

/* The usual place of the piece for an address. */
HT_HOT const struct segment_place *live_pieces_home(const struct segment *s, uint64_t addr)
{
	return &s->places[addr >> HT_PIECE_SHIFT & s->piece_mask];
}

/* Whether the piece is there. False if `addr` is not a multiple of 8: no tag has such low bits.
 * PLACE: then its address is there, too, and its state[] may be touched. */
HT_HOT bool live_pieces_is_home(const struct segment_place *home, uint64_t addr)
{
	return ht_load_acquire_64(&home->tag) == /* PLACE */
	       (addr & ~(HT_PIECE_BYTES - 8)) + HT_PIECE_USED;
}

HT_HOT struct ht_piece *live_pieces_at_home(const struct segment_place *home)
{
	return (struct ht_piece *)(uintptr_t)ht_load_relaxed_64(&home->piece);
}

/* The piece for an address, in any place; NULL: there is none. */
struct ht_piece *live_pieces_find(const struct segment *s, uint64_t addr, bool odd);
/* The same, created if possible: at most `probes` from its home in `places`. */
struct ht_piece *live_pieces_claim(
	const struct segment *s, uint64_t addr, bool odd, uint32_t probes);
/* How far from its home a piece may be. If so many places are taken, the table is nearly full. */
#define LIVE_PIECES_PROBES 16u
/* Gives piece `number` of the list, which has memory, its place: for a segment that was in use
 * before it was mapped. */
void live_pieces_adopt(const struct segment *s, uint32_t number);

#endif
