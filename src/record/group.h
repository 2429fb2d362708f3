/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A group: consecutive ticks, the first of which is a key frame, so that each group can be read
 * alone. Raw, that is each tick's length (varint) and the tick (tick.h); packed, one zstd frame.
 * Main thread.
 */
#ifndef SRC_RECORD_GROUP_H
#define SRC_RECORD_GROUP_H

#include "src/record/tick.h"

/* What a group may be when it is unpacked; a larger one is not from here. */
#define GROUP_RAW_MAX ((size_t)1 << 28)

struct group {
	uint32_t ticks;
	bool settled; /* thinning it alone gains nothing more */
	uint64_t step_ns; /* the distance that thinning gave its ticks; 0: none */
	size_t raw_bytes;
	uint8_t *data; /* owned; packed. NULL: elsewhere, and `place` says where */
	size_t bytes; /* of data */
	uint64_t place;
};

/* How large a group with such a key frame should become, raw. */
size_t group_most(size_t key_bytes);
/* Whether a group that began `age_ns` ago ends before the next tick; `most`: bytes. */
bool group_is_full(size_t raw_bytes, size_t key_bytes, size_t most, uint64_t age_ns);
/* Appends a tick with its length to a raw group. */
void group_add(struct bytes *raw, const struct bytes *tick);
/* Packs a raw group into g->data. 0 or -ENOMEM. */
int group_pack(struct group *g, const struct bytes *raw);
/* Unpacks g->data. 0, -ENOMEM, -EBADMSG. */
int group_unpack(const struct group *g, struct bytes *raw);
/* The next tick of a raw group; false: there is none, or it is cut off. */
bool group_next(struct bytes_cursor *c, const uint8_t **tick, size_t *len);

#endif
