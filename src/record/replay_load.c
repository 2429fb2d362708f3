/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ticks of a recording's groups (recording_store.h): read from their blocks, or, once they are
 * thinned, from the spill file of a compaction. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "src/record/recording_store.h"

#define SPILLED (1ull << 63) /* in a group's place: an offset in the spill file */

bool replay_is_spilled(const struct group *g)
{
	return (g->place & SPILLED) != 0;
}

int replay_store(void *ctx, struct group *g)
{
	struct replay *p = ctx;
	off_t at = lseek(p->spill, 0, SEEK_END);
	int rc = at < 0 ? -errno : recording_write_all(p->spill, g->data, g->bytes);

	if (rc)
		return rc;
	free(g->data);
	g->data = NULL;
	g->place = SPILLED | (uint64_t)at;
	return 0;
}

static int spilled_load(const struct replay *p, const struct group *g, struct bytes *raw)
{
	struct group copy = *g;
	ssize_t got;
	int rc;

	copy.data = malloc(g->bytes);
	if (!copy.data)
		return -ENOMEM;
	got = pread(p->spill, copy.data, g->bytes, (off_t)(g->place & ~SPILLED));
	rc = got == (ssize_t)g->bytes ? group_unpack(&copy, raw) : -EIO;
	free(copy.data);
	return rc;
}

/* Unpacks a tick's piece of the group's zstd stream to the end of `raw`, which has room for all. */
static int piece_unpack(ZSTD_DCtx *zstd, const struct bytes *packed, struct bytes *raw, size_t most)
{
	ZSTD_inBuffer in = { packed->data, packed->len, 0 };
	ZSTD_outBuffer out = { raw->data, most, raw->len };

	while (in.pos < in.size) {
		size_t before = in.pos, had = out.pos, rc = ZSTD_decompressStream(zstd, &out, &in);

		if (ZSTD_isError(rc) || (in.pos == before && out.pos == had))
			return -EBADMSG;
	}
	raw->len = out.pos;
	return 0;
}

int replay_load(void *ctx, const struct group *g, struct bytes *raw)
{
	struct replay *p = ctx;
	struct bytes packed = { 0 };
	struct block b;
	ZSTD_DCtx *zstd;
	int rc;

	if (replay_is_spilled(g))
		return spilled_load(p, g, raw);
	zstd = ZSTD_createDCtx();
	rc = zstd ? 0 : -ENOMEM;
	if (g->raw_bytes > GROUP_RAW_MAX || g->place > p->ticks || g->ticks > p->ticks - g->place)
		rc = -EBADMSG;
	else if (!bytes_room(raw, g->raw_bytes + 1))
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < g->ticks; i++) {
		rc = block_read(p->in->fd, p->at[g->place + i], p->in->size, &b);
		if (!rc)
			rc = block_payload(p->in->fd, &b, &packed);
		if (!rc)
			rc = piece_unpack(zstd, &packed, raw, g->raw_bytes);
	}
	ZSTD_freeDCtx(zstd);
	bytes_free(&packed);
	return rc;
}
