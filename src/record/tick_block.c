/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks as blocks (tick_block.h). Main thread. */
#include "src/record/tick_block.h"

#include <errno.h>
#include <string.h>

#define LEVEL	    3
#define WINDOW_LOG  19 /* enough for some ticks of 10,000 busy sites; memory of each stream */
#define FLAG_LOST   128u
#define FLAGS_KNOWN (HISTORY_MARK | HISTORY_PEAK | HISTORY_EXTREME | FLAG_LOST)

static void head_put(struct bytes *head, const struct tick_block *b,
	const struct timeline_point *before, bool first)
{
	const struct timeline_point *p = &b->point;

	head->len = 0;
	bytes_number(head, p->ns - before->ns);
	bytes_change(head, p->live_bytes - before->live_bytes);
	bytes_change(head, p->rss - before->rss);
	bytes_change(head, p->allocs - before->allocs);
	bytes_change(head, p->minor_faults - before->minor_faults);
	bytes_change(head, p->major_faults - before->major_faults);
	bytes_change(head, (uint64_t)p->threads - before->threads);
	bytes_number(head, p->live_bytes - p->low_bytes);
	bytes_number(head, p->high_bytes - p->live_bytes);
	bytes_number(head, b->flags | (p->lost ? FLAG_LOST : 0));
	bytes_number(head, b->raw_bytes);
	if (first)
		bytes_number(head, b->step_ns);
}

int tick_block_read(
	const struct block *b, const struct timeline_point *before, struct tick_block *out)
{
	struct bytes_cursor c = { b->head, b->head + b->head_bytes, false };
	struct timeline_point *p = &out->point;
	uint64_t flags;

	*out = (struct tick_block){ .point.ns = before->ns + bytes_read(&c) };
	p->live_bytes = before->live_bytes + bytes_read_change(&c);
	p->rss = before->rss + bytes_read_change(&c);
	p->allocs = before->allocs + bytes_read_change(&c);
	p->minor_faults = before->minor_faults + bytes_read_change(&c);
	p->major_faults = before->major_faults + bytes_read_change(&c);
	p->threads = before->threads + (uint32_t)bytes_read_change(&c);
	p->low_bytes = p->live_bytes - bytes_read_below(&c, p->live_bytes);
	p->high_bytes = p->live_bytes + bytes_read_below(&c, UINT64_MAX - p->live_bytes);
	flags = bytes_read(&c);
	out->flags = (uint8_t)(flags & FLAGS_KNOWN & ~FLAG_LOST);
	p->lost = (flags & FLAG_LOST) != 0;
	out->raw_bytes = bytes_read_below(&c, GROUP_RAW_MAX);
	if (b->kind == BLOCK_KEY)
		out->step_ns = bytes_read(&c);
	return c.bad || out->point.ns < before->ns ? -EBADMSG : 0;
}

static int zstd_start(struct tick_writer *w)
{
	if (!w->zstd)
		w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		return -ENOMEM;
	if (w->ticks == 0) {
		ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	}
	return 0;
}

/* Packs a part of w->raw as the next blocks of the group's zstd stream. */
static int part_pack(struct tick_writer *w, size_t from, size_t to)
{
	ZSTD_inBuffer in = { w->raw.data + from, to - from, 0 };
	size_t left = 1;

	while (left > 0) {
		ZSTD_outBuffer piece = { 0 };

		if (!bytes_room(&w->packed, ZSTD_compressBound(to - from) + 64))
			return -ENOMEM;
		piece.dst = w->packed.data + w->packed.len;
		piece.size = w->packed.cap - w->packed.len;
		left = ZSTD_compressStream2(w->zstd, &piece, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return -ENOMEM;
		w->packed.len += piece.pos;
	}
	return 0;
}

/* Packs w->raw, which has `before` bytes before the tick. */
static int raw_pack(struct tick_writer *w, size_t before)
{
	const struct tick_encoder *e = &w->encoder;
	size_t from = 0;
	int rc = w->raw.failed ? -ENOMEM : zstd_start(w);

	w->packed.len = 0;
	for (unsigned i = 0; rc == 0 && i < e->cuts; i++) {
		rc = part_pack(w, from, before + e->cut[i]);
		from = before + e->cut[i];
	}
	return rc || from == w->raw.len ? rc : part_pack(w, from, w->raw.len);
}

int tick_writer_put(struct tick_writer *w, uint32_t stream, const struct tick_block *b,
	const struct bytes *tick, struct bytes *out)
{
	static const struct timeline_point none;
	bool first = w->ticks == 0;
	struct tick_block block = *b;

	w->raw.len = 0;
	group_add(&w->raw, tick);
	if (raw_pack(w, w->raw.len - tick->len) != 0)
		return -ENOMEM;
	block.raw_bytes = w->raw.len;
	head_put(&w->head, &block, first ? &none : &w->last, first);
	block_put(out, first ? BLOCK_KEY : BLOCK_TICK, stream, &w->head, w->packed.data,
		w->packed.len);
	if (first) {
		w->raw_bytes = 0;
		w->key_bytes = w->raw.len;
		w->first_ns = b->point.ns;
	}
	w->raw_bytes += w->raw.len;
	w->last = b->point;
	w->ticks++;
	return out->failed ? -ENOMEM : 0;
}

void tick_writer_pass(struct tick_writer *w, const struct snapshot *s)
{
	uint64_t live = s->totals.live_bytes;

	if (!w->passed || live < w->passed_low)
		w->passed_low = live;
	if (!w->passed || live > w->passed_high)
		w->passed_high = live;
	w->passed = true;
}

bool tick_writer_has_mark(const struct tick_writer *w, const struct snapshot *s)
{
	return s->moments && s->moments->number > w->seen.mark;
}

static void passed_take(struct tick_writer *w, struct timeline_point *p)
{
	if (!w->passed)
		return;
	if (w->passed_low < p->low_bytes)
		p->low_bytes = w->passed_low;
	if (w->passed_high > p->high_bytes)
		p->high_bytes = w->passed_high;
	w->passed = false;
}

int tick_writer_add(
	struct tick_writer *w, uint32_t stream, const struct snapshot *s, struct bytes *out)
{
	struct tick_block b = { 0 };
	int rc;

	if (w->ticks && state_is_of(&w->now, s))
		return 0;
	b.point = history_point(&w->seen, s, &b.flags);
	passed_take(w, &b.point);
	if (w->ticks && group_is_full(w->raw_bytes, w->key_bytes, group_most(w->key_bytes),
				b.point.ns - w->first_ns))
		tick_writer_end_group(w);
	w->tick.len = 0;
	rc = tick_encode(&w->encoder, &w->now, s, &w->tick);
	if (!rc && w->tick.failed)
		rc = -ENOMEM;
	return rc ? rc : tick_writer_put(w, stream, &b, &w->tick, out);
}

void tick_writer_end_group(struct tick_writer *w)
{
	w->ticks = 0;
	state_clear(&w->now);
}

void tick_writer_free(struct tick_writer *w)
{
	state_free(&w->now);
	tick_encoder_free(&w->encoder);
	ZSTD_freeCCtx(w->zstd);
	bytes_free(&w->tick);
	bytes_free(&w->raw);
	bytes_free(&w->packed);
	bytes_free(&w->head);
	*w = (struct tick_writer){ 0 };
}
