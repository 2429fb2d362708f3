/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ticks as blocks: the payloads of a group's blocks, in their order, are one zstd stream that is
 * flushed after each tick and gives the raw group (group.h). The head tells the point:
 *
 *	changes since the group's tick before (0 for the first) of: ns, live bytes, rss,
 *	allocs, minor and major faults, threads;
 *	live - low, high - live;
 *	flags (HISTORY_*, 128: events were lost before it);
 *	raw bytes of the tick, its length included;
 *	for the first: the group's step in ns
 *
 * Main thread.
 */
#ifndef SRC_RECORD_TICK_BLOCK_H
#define SRC_RECORD_TICK_BLOCK_H

#include <zstd.h>
#include "src/record/block.h"
#include "src/record/history_store.h"

struct tick_block {
	struct timeline_point point;
	uint8_t flags; /* HISTORY_* */
	uint64_t raw_bytes, step_ns; /* step: of the group, with its first tick */
};

/* Writes the ticks of one stream. All zeros: nothing is written. */
struct tick_writer {
	struct state now;
	struct tick_encoder encoder;
	struct history_seen seen;
	ZSTD_CCtx *zstd; /* owned */
	struct bytes tick, raw, packed, head;
	uint32_t ticks; /* of the group so far */
	size_t raw_bytes, key_bytes;
	uint64_t first_ns;
	struct timeline_point last;
	/* Live bytes of the ticks that were left out since the last one, if any was. */
	bool passed;
	uint64_t passed_low, passed_high;
};

/* Appends the snapshot's block, unless it is of the same moment as the last one. 0 or -ENOMEM:
 * nothing more can be written. */
int tick_writer_add(
	struct tick_writer *w, uint32_t stream, const struct snapshot *s, struct bytes *out);
/* A tick is left out: its live bytes count for the extremes of the next one. */
void tick_writer_pass(struct tick_writer *w, const struct snapshot *s);
/* Whether the snapshot has a mark that no tick had yet. */
bool tick_writer_has_mark(const struct tick_writer *w, const struct snapshot *s);
/* Appends a block of a tick that is encoded already; `step_ns` counts for the first of a group. */
int tick_writer_put(struct tick_writer *w, uint32_t stream, const struct tick_block *b,
	const struct bytes *tick, struct bytes *out);
/* The next tick begins a group. */
void tick_writer_end_group(struct tick_writer *w);
void tick_writer_free(struct tick_writer *w);

/* Reads a block's head; `before`: the point before it in the group, zeros for the first. 0 or
 * -EBADMSG. */
int tick_block_read(
	const struct block *b, const struct timeline_point *before, struct tick_block *out);

#endif
