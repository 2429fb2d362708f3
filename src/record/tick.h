/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The encoding of a tick: what changed from one state (state.h) to the next. A tick that follows
 * the empty state holds everything: a key frame. Main thread.
 *
 *	flags (1: the notice changed, 2: the wrong frees did), [notice], [wrong frees, as a text]
 *	head:    n, then n times: gap of the number, change
 *	threads: n, then n times: gap of the slot, mask, a change per bit of it, [name]
 *	gone:    n, then n gaps of sites that are no longer there
 *	sites:   those of mappings and pools too; n; unless 0, one column after the other, each with
 *	         its length before it: gaps of the ids, masks, and for each number of a site
 *	         (state.h) the changes that differ from the prediction, as the masks say
 *
 * Lengths, counts, gaps and masks are varints, changes zigzag varints modulo 2^64 (bytes.h). A gap
 * is the distance to the next index after the one before, so that neighbours have 0.
 *
 * Predictions: blocks of a site have its average size, so alloc_bytes and live_bytes change by that
 * times the blocks, and so do the bytes at the program's peak; the site's peak rises to its live
 * bytes. Sites that allocate one size then cost nothing but their counts.
 */
#ifndef SRC_RECORD_TICK_H
#define SRC_RECORD_TICK_H

#include "src/util/bytes.h"
#include "src/record/state.h"

#define TICK_COLUMNS (2 + STATE_SITE_NUMBERS + STATE_SITE_MORE)

/* Working memory of the encoder. All zeros: empty. */
struct tick_encoder {
	/* Where the large columns of the last tick begin and end, as offsets in it: packed one by
	 * one they take less, since each has its own distribution. */
	size_t cut[2 * TICK_COLUMNS];
	unsigned cuts;
	struct bytes column[TICK_COLUMNS];
	struct bytes threads, gone, wrong;
	uint32_t *
		order; /* owned: positions of the snapshot's sites by id, if they are in no order */
	uint8_t *seen; /* owned: ids, if some are gone */
	size_t order_room, seen_room;
	uint32_t last_id; /* of the sites so far, + 1 */
	uint32_t sites; /* number of those that changed */
};

/* Appends what changed from `old` to the snapshot, and makes `old` that. 0, or -ENOMEM: `old` and
 * `out` are not usable. */
int tick_encode(
	struct tick_encoder *t, struct state *old, const struct snapshot *s, struct bytes *out);
/* The same, to another state. */
int tick_encode_state(
	struct tick_encoder *t, struct state *old, const struct state *now, struct bytes *out);
/* Applies a tick to the state before it. 0, -EBADMSG: it is none, and `s` is not usable; -ENOMEM.
 */
int tick_decode(struct state *s, const uint8_t *data, size_t len);
size_t tick_encoder_bytes(const struct tick_encoder *t);
void tick_encoder_free(struct tick_encoder *t);

#endif
