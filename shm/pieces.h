/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which piece of the live table covers an address. Pieces are taken one after another, so that the
 * file, and the mapping of it, grow at their end: header.pieces[] has their tags, each tag once,
 * without a gap. By that list alone a piece is found slowly; `places` in struct segment, memory of
 * this process only, is a hash of it. Nothing is ever removed from either.
 *
 * Any thread may make pieces, inside hooks; each step is one swap that only one thread can win, and
 * that all others then see or finish, whether the winner goes on or not.
 */
#ifndef SHM_PIECES_H
#define SHM_PIECES_H

#include "shm/commit.h"

/* The tag of the piece for an address; `odd`: the one for granules 1 and 3. */
static inline uint64_t pieces_tag(uint64_t addr, bool odd)
{
	return (addr & ~(HT_PIECE_BYTES - 1)) | HT_PIECE_USED | (odd ? HT_PIECE_ODD : 0);
}

/* Where the piece for an address usually is. */
HT_HOT const struct segment_place *pieces_home(const struct segment *s, uint64_t addr)
{
	return &s->places[addr >> HT_PIECE_SHIFT & s->piece_mask];
}

/*
 * Whether it is there; and not if `addr` is no multiple of 8, which no tag's low bits are that of.
 * PLACE: then its address is, too, and its state[] may be touched.
 */
HT_HOT bool pieces_is_home(const struct segment_place *home, uint64_t addr)
{
	return ht_load_acquire_64(&home->tag) == /* PLACE */
	       (addr & ~(HT_PIECE_BYTES - 8)) + HT_PIECE_USED;
}

HT_HOT struct ht_piece *pieces_at_home(const struct segment_place *home)
{
	return (struct ht_piece *)(uintptr_t)ht_load_relaxed_64(&home->piece);
}

/* The piece for an address, wherever it is; NULL: there is none. */
struct ht_piece *pieces_find(const struct segment *s, uint64_t addr, bool odd);
/* The same, made if it can be: at most `probes` from its home in `places`. */
struct ht_piece *pieces_claim(const struct segment *s, uint64_t addr, bool odd, uint32_t probes);
/* How far from its home a piece may be. Where so many are taken, the table is rather full. */
#define PIECES_PROBES 16u
/* Finds a place for piece `number` of the list, whose memory is there: for a segment that was in
 * use before it was mapped. */
void pieces_adopt(const struct segment *s, uint32_t number);

#endif
