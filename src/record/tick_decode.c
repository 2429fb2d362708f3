/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks back to states (tick.h). What is read may be anything: each count, index and length is
 * checked. Main thread. */
#include "src/record/tick_bits.h"
#include "src/record/wrong_rows.h"

#include <errno.h>
#include <string.h>

#include "src/util/text.h"

/* The next index after a gap, below `limit`. */
static uint32_t index_read(struct bytes_cursor *c, uint32_t *next, uint32_t limit)
{
	uint64_t gap = bytes_read(c);

	if (c->bad || gap >= limit - *next) {
		c->bad = true;
		return 0;
	}
	*next += (uint32_t)gap + 1;
	return *next - 1;
}

static int texts_read(struct state *s, struct bytes_cursor *c)
{
	uint64_t flags = bytes_read_below(c, FLAG_NOTICE | FLAG_WRONG);
	const char *text = NULL, *rows = NULL;
	char clean[STATE_TEXT_MAX + 1];
	size_t len, rows_len;
	int rc = 0;

	if (flags & FLAG_NOTICE)
		text = bytes_read_text(c, STATE_TEXT_MAX, &len);
	if (flags & FLAG_WRONG)
		rows = bytes_read_text(c, WRONG_ROWS_BYTES, &rows_len);
	if (text)
		rc = state_notice_set(s, clean, text_clean(clean, sizeof(clean), text, len));
	if (rc == 0 && rows)
		rc = state_wrong_set(s, rows, rows_len);
	return rc;
}

static void head_read(struct state *s, struct bytes_cursor *c)
{
	uint64_t n = bytes_read_below(c, STATE_HEAD_MAX);
	uint32_t next = 0;

	/* A later version may have more numbers. */
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint32_t at = index_read(c, &next, STATE_HEAD_MAX);
		uint64_t change = bytes_read_change(c);

		if (!c->bad)
			s->head[at] += change;
	}
}

static void thread_read(struct state_thread *t, struct bytes_cursor *c)
{
	unsigned mask = (unsigned)bytes_read_below(c, THREAD_BITS - 1);
	const char *name;
	size_t len;

	for (unsigned i = 0; i < STATE_THREAD_NUMBERS; i++)
		if (mask >> i & 1)
			t->n[i] += bytes_read_change(c);
	if (mask & THREAD_NAME) {
		name = bytes_read_text(c, sizeof(t->name) - 1, &len);
		memset(t->name, 0, sizeof(t->name));
		if (name)
			text_clean(t->name, sizeof(t->name), name, len);
	}
	t->present = true;
	if (mask & THREAD_GONE)
		*t = (struct state_thread){ 0 };
}

static int threads_read(struct state *s, struct bytes_cursor *c)
{
	uint64_t n = bytes_read_below(c, STATE_THREADS_MAX);
	uint32_t next = 0;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint32_t slot = index_read(c, &next, STATE_THREADS_MAX);
		int rc = c->bad ? 0 : state_thread_room(s, slot);

		if (rc)
			return rc;
		if (c->bad)
			break;
		s->threads -= s->thread[slot].present;
		thread_read(&s->thread[slot], c);
		s->threads += s->thread[slot].present;
	}
	return 0;
}

static void gone_read(struct state *s, struct bytes_cursor *c)
{
	uint64_t n = bytes_read_below(c, s->sites);
	uint32_t next = 0;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint32_t id = index_read(c, &next, s->room);

		if (!c->bad)
			state_site_clear(s, id);
	}
}

static uint64_t column_read(struct bytes_cursor *column, unsigned mask, unsigned number)
{
	return mask & SITE_BIT(number) ? bytes_read_change(&column[COLUMN_NUMBERS + number]) : 0;
}

static void site_read(uint64_t *n, unsigned mask, struct bytes_cursor *column)
{
	uint64_t allocs = column_read(column, mask, STATE_ALLOCS);
	uint64_t held = column_read(column, mask, STATE_HELD), size = site_block_size(n), blocks;
	bool is_new = n[STATE_ALLOCS] == 0;

	n[STATE_ALLOCS] += allocs;
	n[STATE_HELD] += held;
	n[STATE_ALLOC_BYTES] += allocs * size + column_read(column, mask, STATE_ALLOC_BYTES);
	if (is_new)
		size = site_block_size(n);
	n[STATE_LIVE_BYTES] += held * size + column_read(column, mask, STATE_LIVE_BYTES);
	n[STATE_TEMPORARY] += column_read(column, mask, STATE_TEMPORARY);
	n[STATE_PEAK] =
		larger(n[STATE_PEAK], n[STATE_LIVE_BYTES]) + column_read(column, mask, STATE_PEAK);
	if (mask & SITE_AT_PEAK_NOW) {
		n[STATE_AT_PEAK_BYTES] = n[STATE_LIVE_BYTES];
		n[STATE_AT_PEAK_BLOCKS] = n[STATE_HELD];
	}
	blocks = column_read(column, mask, STATE_AT_PEAK_BLOCKS);
	n[STATE_AT_PEAK_BYTES] += blocks * size + column_read(column, mask, STATE_AT_PEAK_BYTES);
	n[STATE_AT_PEAK_BLOCKS] += blocks;
}

static int more_read(struct state *s, uint32_t id, unsigned mask, struct bytes_cursor *column)
{
	int rc = state_more_room(s);

	for (unsigned i = 0; rc == 0 && i < STATE_SITE_MORE; i++)
		if (mask & MORE_BIT(i))
			s->more[id].n[i] += bytes_read_change(&column[COLUMN_MORE + i]);
	return rc;
}

static int sites_read(struct state *s, struct bytes_cursor *c)
{
	uint64_t n = bytes_read_below(c, STATE_SITES_MAX);
	struct bytes_cursor column[TICK_COLUMNS];
	uint32_t next = 0;
	bool bad = false;
	int rc = 0;

	for (unsigned i = 0; n && i < TICK_COLUMNS; i++)
		column[i] = bytes_read_cursor(c);
	for (uint64_t i = 0; rc == 0 && i < n; i++) {
		uint32_t id = index_read(&column[COLUMN_GAPS], &next, STATE_SITES_MAX);
		unsigned mask = (unsigned)bytes_read_below(&column[COLUMN_MASKS], SITE_BITS - 1);

		if (column[COLUMN_GAPS].bad || column[COLUMN_MASKS].bad)
			return -EBADMSG;
		rc = state_site_room(s, id);
		if (rc)
			break;
		s->sites += !s->present[id];
		s->present[id] = 1;
		site_read(s->site[id].n, mask, column);
		if (mask >= MORE_BIT(0))
			rc = more_read(s, id, mask, column);
	}
	for (unsigned i = 0; n && i < TICK_COLUMNS; i++)
		bad |= column[i].bad;
	return bad ? -EBADMSG : rc;
}

int tick_decode(struct state *s, const uint8_t *data, size_t len)
{
	struct bytes_cursor c = { data, data + len, false };
	int rc = texts_read(s, &c);

	head_read(s, &c);
	if (!rc)
		rc = threads_read(s, &c);
	gone_read(s, &c);
	if (!rc)
		rc = sites_read(s, &c);
	if (rc)
		return rc;
	return c.bad || c.at != c.end ? -EBADMSG : 0;
}
