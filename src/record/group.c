/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of ticks (group.h). Main thread. */
#include "src/record/group.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/* Of zstd. Higher levels gain a few percent on ticks, at several times the cost. */
#define PACK_LEVEL 1

#define S_NS 1000000000ull
/*
 * When a group ends: after a minute, once its changes are as large as its key frame, but not after
 * ten; or when it is so large that reading it takes long.
 */
#define SHORT_NS (60 * S_NS)
#define LONG_NS	 (600 * S_NS)
#define RAW_MOST ((size_t)4 << 20)
#define KEYS	 4u /* key frames that it may be as large as */

size_t group_most(size_t key_bytes)
{
	return key_bytes * KEYS > RAW_MOST ? key_bytes * KEYS : RAW_MOST;
}

bool group_is_full(size_t raw_bytes, size_t key_bytes, size_t most, uint64_t age_ns)
{
	if (raw_bytes >= most || age_ns >= LONG_NS)
		return true;
	return age_ns >= SHORT_NS && raw_bytes >= 2 * key_bytes;
}

void group_add(struct bytes *raw, const struct bytes *tick)
{
	bytes_number(raw, tick->len);
	bytes_add(raw, tick->data, tick->len);
}

int group_pack(struct group *g, const struct bytes *raw)
{
	size_t room = ZSTD_compressBound(raw->len), len;
	uint8_t *data = malloc(room), *fit;

	if (!data)
		return -ENOMEM;
	len = ZSTD_compress(data, room, raw->data, raw->len, PACK_LEVEL);
	if (ZSTD_isError(len)) {
		free(data);
		return -ENOMEM;
	}
	fit = realloc(data, len);
	g->data = fit ? fit : data;
	g->bytes = len;
	g->raw_bytes = raw->len;
	return 0;
}

int group_unpack(const struct group *g, struct bytes *raw)
{
	size_t len;

	raw->len = 0;
	if (g->raw_bytes > GROUP_RAW_MAX)
		return -EBADMSG;
	if (!bytes_room(raw, g->raw_bytes))
		return -ENOMEM;
	len = ZSTD_decompress(raw->data, g->raw_bytes, g->data, g->bytes);
	if (ZSTD_isError(len))
		return -EBADMSG;
	raw->len = len;
	return 0;
}

bool group_next(struct bytes_cursor *c, const uint8_t **tick, size_t *len)
{
	struct bytes_cursor piece;

	if (c->at == c->end)
		return false;
	piece = bytes_read_cursor(c);
	*tick = piece.at;
	*len = (size_t)(piece.end - piece.at);
	return !piece.bad;
}
