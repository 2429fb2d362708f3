/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wrong frees as numbers, and back (wrong_rows.h). Main thread. */
#include "src/record/wrong_rows.h"

#include "src/record/state.h"

void wrong_rows_put(const struct snapshot *s, struct bytes *out)
{
	out->len = 0;
	if (s->nwrong == 0)
		return;
	bytes_number(out, s->nwrong);
	for (size_t i = 0; i < s->nwrong; i++) {
		const struct snap_wrong_free *f = &s->wrong[i];

		bytes_number(out, f->kind);
		bytes_number(out, f->count);
		bytes_number(out, f->bytes);
		bytes_number(out, f->addr);
		bytes_number(out, f->offset);
		bytes_number(out, f->want);
		bytes_number(out, f->site);
		bytes_number(out, f->alloc_site);
		bytes_number(out, f->first_site);
	}
}

size_t wrong_rows_count(const struct bytes *rows)
{
	struct bytes_cursor c = bytes_begin(rows);
	uint64_t n = rows->len ? bytes_read_below(&c, WRONG_ROWS_MAX) : 0;

	return c.bad ? 0 : n;
}

static uint32_t site_read(struct bytes_cursor *c)
{
	return (uint32_t)bytes_read_below(c, STATE_SITES_MAX - 1);
}

static struct snap_wrong_free row_read(struct bytes_cursor *c)
{
	struct snap_wrong_free f = { .kind = (enum snap_wrong_kind)bytes_read_below(
					     c, SNAP_WRONG_KINDS - 1) };

	f.count = bytes_read(c);
	f.bytes = bytes_read(c);
	f.addr = bytes_read(c);
	f.offset = bytes_read(c);
	f.want = bytes_read(c);
	f.site = site_read(c);
	f.alloc_site = site_read(c);
	f.first_site = site_read(c);
	return f;
}

size_t wrong_rows_get(const struct bytes *rows, struct snap_wrong_free *out, size_t most)
{
	struct bytes_cursor c = bytes_begin(rows);
	size_t n = wrong_rows_count(rows), read = 0;

	if (n > 0)
		(void)bytes_read(&c);
	while (read < n && read < most && !c.bad) {
		out[read] = row_read(&c);
		read += !c.bad;
	}
	return read;
}
