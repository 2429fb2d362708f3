/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks as blocks (mark_block.h). Main thread. */
#include "src/record/mark_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/record/block.h"
#include "src/record/state.h"
#include "src/util/array.h"

struct mark_written {
	unsigned number;
	char name[SNAP_MARK_NAME];
};

static void mark_put(struct bytes *raw, const struct snap_mark *m, bool sites)
{
	uint32_t next = 0;

	bytes_number(raw, m->number);
	bytes_add_text(raw, m->name);
	bytes_number(raw, m->ns);
	bytes_number(raw, m->live_bytes);
	bytes_number(raw, m->live_blocks);
	bytes_number(raw, m->allocs);
	bytes_number(raw, m->alloc_bytes);
	bytes_number(raw, sites ? m->nsites : 0);
	for (size_t i = 0; sites && i < m->nsites; i++) {
		const struct snap_mark_site *s = &m->sites[i];

		bytes_number(raw, s->id - next);
		bytes_number(raw, s->live_bytes);
		bytes_number(raw, s->live_blocks);
		bytes_number(raw, s->allocs);
		bytes_number(raw, s->alloc_bytes);
		next = s->id + 1;
	}
}

static int mark_write(uint32_t stream, const struct snap_mark *m, bool sites, struct bytes *out)
{
	struct bytes raw = { 0 }, packed = { 0 };
	int rc;

	mark_put(&raw, m, sites);
	rc = block_pack(&packed, &raw);
	if (!rc)
		block_put(out, BLOCK_MARK, stream, NULL, packed.data, packed.len);
	bytes_free(&raw);
	bytes_free(&packed);
	return rc ? rc : out->failed ? -ENOMEM : 0;
}

static int mark_new(
	struct mark_writer *w, uint32_t stream, const struct snap_mark *m, struct bytes *out)
{
	struct mark_written *marks = array_grow(w->marks, w->count, &w->room, sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	w->marks = marks;
	marks[w->count].number = m->number;
	memcpy(marks[w->count++].name, m->name, sizeof(m->name));
	return mark_write(stream, m, true, out);
}

/* The oldest mark after the last one written, or NULL. */
static const struct snap_mark *mark_next(const struct mark_writer *w, const struct snap_mark *last)
{
	unsigned have = w->count ? w->marks[w->count - 1].number : 0;
	const struct snap_mark *found = NULL;

	for (const struct snap_mark *m = last; m && m->number > have; m = m->before)
		found = m;
	return found;
}

/* Both lists ascend by number; some marks may be in one only. */
static int renamed_write(
	struct mark_writer *w, uint32_t stream, const struct snap_mark *last, struct bytes *out)
{
	size_t i = w->count;
	int rc = 0;

	for (const struct snap_mark *m = last; rc == 0 && m && i > 0; m = m->before) {
		struct mark_written *was;

		while (i > 0 && w->marks[i - 1].number > m->number)
			i--;
		was = i > 0 ? &w->marks[i - 1] : NULL;
		if (!was || was->number != m->number || strcmp(was->name, m->name) == 0)
			continue;
		memcpy(was->name, m->name, sizeof(was->name));
		rc = mark_write(stream, m, false, out);
	}
	return rc;
}

int mark_writer_add(
	struct mark_writer *w, uint32_t stream, const struct snap_mark *last, struct bytes *out)
{
	const struct snap_mark *m;
	int rc = 0;

	while (rc == 0 && (m = mark_next(w, last)) != NULL)
		rc = mark_new(w, stream, m, out);
	return rc ? rc : renamed_write(w, stream, last, out);
}

void mark_writer_free(struct mark_writer *w)
{
	free(w->marks);
	*w = (struct mark_writer){ 0 };
}

/* ---- reading ---- */

static struct snap_mark_site *sites_read(struct bytes_cursor *c, uint64_t n)
{
	/* A site takes five bytes or more. */
	struct snap_mark_site *sites =
		n <= (uint64_t)(c->end - c->at) / 5 ? calloc(n + 1, sizeof(*sites)) : NULL;
	uint64_t id = 0;

	for (uint64_t i = 0; sites && i < n; i++, id++) {
		id += bytes_read_below(c, STATE_SITES_MAX);
		sites[i].id = (uint32_t)id;
		sites[i].live_bytes = bytes_read(c);
		sites[i].live_blocks = bytes_read(c);
		sites[i].allocs = bytes_read(c);
		sites[i].alloc_bytes = bytes_read(c);
		c->bad |= id >= STATE_SITES_MAX;
		if (c->bad)
			break;
	}
	return sites;
}

int mark_block_read(struct mark_list *marks, const struct bytes *raw)
{
	struct bytes_cursor c = bytes_begin(raw);
	struct snap_mark m = { .number = (unsigned)bytes_read_below(&c, UINT32_MAX - 1) };
	struct snap_mark_site *sites;
	char name[SNAP_MARK_NAME] = "";
	size_t len;
	const char *text = bytes_read_text(&c, sizeof(name) - 1, &len);
	int rc = -EBADMSG;

	if (text)
		memcpy(name, text, len);
	m.ns = bytes_read(&c);
	m.live_bytes = bytes_read(&c);
	m.live_blocks = bytes_read(&c);
	m.allocs = bytes_read(&c);
	m.alloc_bytes = bytes_read(&c);
	m.nsites = bytes_read_below(&c, STATE_SITES_MAX);
	sites = c.bad ? NULL : sites_read(&c, m.nsites);
	m.sites = sites;
	if (!sites || c.bad || c.at != c.end)
		rc = -EBADMSG;
	else if (mark_list_find(marks, m.number))
		rc = 0;
	else if (m.number > (marks->last ? marks->last->number : 0))
		rc = mark_list_add(marks, &m);
	free(sites);
	if (!rc)
		mark_list_rename(mark_list_find(marks, m.number), name);
	return rc;
}
