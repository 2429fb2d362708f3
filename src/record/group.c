/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of ticks (group.h). Main thread. */
#include "src/record/group.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/* Of zstd. Higher levels gain a few percent on ticks, at several times the cost. */
#define PACK_LEVEL 1

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
