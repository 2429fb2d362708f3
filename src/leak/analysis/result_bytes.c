/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of leak scans as bytes (result_bytes.h). One list of members serves both directions. */
#include "src/leak/analysis/result_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/layout.h"
#include "src/util/text.h"

#define TEXT_MOST  (64u << 20) /* bytes of all names of roots and classes */
#define WORD_MOST  256u
#define COUNT_MOST UINT32_MAX

/* One direction: numbers go to `out`, or come from `in` and are checked. */
struct carrier {
	struct bytes *out; /* NULL: they come */
	struct bytes_cursor *in;
};

static void number(struct carrier *c, uint64_t *n, uint64_t most)
{
	if (c->out)
		bytes_number(c->out, *n);
	else
		*n = bytes_read_below(c->in, most);
}

/* A member of whatever type of number. */
#define MEMBER(c, member, most)                                                                    \
	do {                                                                                       \
		uint64_t member_as_number = (uint64_t)(member);                                    \
		number(c, &member_as_number, most);                                                \
		(member) = (__typeof__(member))member_as_number;                                   \
	} while (0)

static void sum(struct carrier *c, struct leak_sum *s)
{
	MEMBER(c, s->blocks, UINT64_MAX);
	MEMBER(c, s->bytes, UINT64_MAX);
}

/* LEAK_NONE, or below `count`: none is written as 0. */
static void index_or_none(struct carrier *c, uint32_t *i, uint64_t count)
{
	uint64_t n = *i == LEAK_NONE ? 0 : (uint64_t)*i + 1;

	number(c, &n, count < LEAK_NONE ? count : LEAK_NONE);
	*i = n ? (uint32_t)(n - 1) : LEAK_NONE;
}

/* A run of `length` items from `first` on is within `count`. */
static void run(struct carrier *c, uint32_t *first, uint32_t *length, uint64_t count)
{
	MEMBER(c, *first, count < COUNT_MOST ? count : COUNT_MOST);
	MEMBER(c, *length, count - *first < COUNT_MOST ? count - *first : COUNT_MOST);
}

/*
 * The count of an array, and when it comes the array: each item takes `least` bytes at least, so
 * that a count alone takes no memory.
 */
static void *items(struct carrier *c, void *have, size_t *count, size_t least, size_t each)
{
	void *made;

	if (c->out) {
		bytes_number(c->out, *count);
		return have;
	}
	*count = bytes_read_below(c->in, (uint64_t)(c->in->end - c->in->at) / least);
	made = calloc(*count + 1, each);
	if (!made) {
		*count = 0;
		c->in->bad = true;
		errno = ENOMEM;
	}
	return made;
}

/* ---- parts ---- */

/* A text at `offset`, which the part begins that holds them all; 0 is none. */
static void text_at(struct carrier *c, uint32_t *offset, const struct leak_result *r)
{
	MEMBER(c, *offset, r->text_bytes ? r->text_bytes - 1 : 0);
}

static void row(struct carrier *c, struct leak_row *w, const struct leak_result *r)
{
	MEMBER(c, w->class, LEAK_CLASSES - 1);
	MEMBER(c, w->site, HT_SITES_MAX - 1);
	sum(c, &w->sum);
	sum(c, &w->indirect);
	sum(c, &w->retained);
	sum(c, &w->cyclic);
	sum(c, &w->cyclic_retained);
	text_at(c, &w->type, r);
	MEMBER(c, w->type_blocks, UINT64_MAX);
	MEMBER(c, w->oldest, UINT32_MAX);
	if (c->out && !r->block) /* numbers of blocks that are not shown */
		run(c, &(uint32_t){ 0 }, &(uint32_t){ 0 }, 0);
	else
		run(c, &w->first_block, &w->blocks, r->block_count);
}

static void step(struct carrier *c, struct leak_step *s, const struct leak_result *r)
{
	MEMBER(c, s->addr, UINT64_MAX);
	MEMBER(c, s->size, UINT64_MAX);
	MEMBER(c, s->site, HT_SITES_MAX - 1);
	text_at(c, &s->root, r);
}

static void shown(struct carrier *c, struct leak_shown *b, const struct leak_result *r)
{
	MEMBER(c, b->addr, UINT64_MAX);
	MEMBER(c, b->size, UINT64_MAX);
	MEMBER(c, b->birth, UINT32_MAX);
	MEMBER(c, b->holders, UINT32_MAX);
	run(c, &b->first_step, &b->steps, r->step_count);
	MEMBER(c, b->left_out, UINT32_MAX);
	MEMBER(c, b->inside, 1);
	sum(c, &b->retained);
	run(c, &b->first_holder, &b->holder_steps, r->step_count);
	MEMBER(c, b->holders_left_out, UINT32_MAX);
	index_or_none(c, &b->lost, r->lost_graph.count);
}

/* `before`: those that may be its parent. */
static void holder(
	struct carrier *c, struct leak_result_holder *h, const struct leak_result *r, size_t before)
{
	index_or_none(c, &h->parent, before);
	text_at(c, &h->root, r);
	MEMBER(c, h->site, HT_SITES_MAX - 1);
	sum(c, &h->own);
	sum(c, &h->all);
}

static void cycle(struct carrier *c, struct leak_cycle *y)
{
	for (unsigned i = 0; i < LEAK_CYCLE_SITES; i++)
		MEMBER(c, y->site[i], HT_SITES_MAX - 1);
	MEMBER(c, y->sites, UINT32_MAX);
	MEMBER(c, y->times, UINT64_MAX);
	MEMBER(c, y->blocks, UINT64_MAX);
	MEMBER(c, y->bytes, UINT64_MAX);
	MEMBER(c, y->retained_blocks, UINT64_MAX);
	MEMBER(c, y->retained_bytes, UINT64_MAX);
}

static void contents_sum(struct carrier *c, struct leak_contents_sum *s)
{
	MEMBER(c, s->blocks, UINT64_MAX);
	MEMBER(c, s->bytes, UINT64_MAX);
}

static void site_contents(struct carrier *c, struct leak_site_contents *s)
{
	MEMBER(c, s->site, HT_SITES_MAX - 1);
	contents_sum(c, &s->read);
	contents_sum(c, &s->zero);
	contents_sum(c, &s->tail);
	contents_sum(c, &s->copies);
}

static void contents(struct carrier *c, struct leak_contents *s)
{
	s->site = items(c, s->site, &s->sites, 9, sizeof(*s->site));
	for (size_t i = 0; i < s->sites; i++)
		site_contents(c, &s->site[i]);
	site_contents(c, &s->all);
	MEMBER(c, s->is_whole, 1);
}

/* Edges are counted first: `first` is a sum of numbers that follow. */
static void lost_graph(struct carrier *c, struct leak_lost_graph *l, size_t rows)
{
	size_t count = l->count, edges = l->count ? l->first[l->count] : 0;
	uint64_t at = 0;

	l->row = items(c, l->row, &count, 4, sizeof(*l->row));
	if (!c->out) {
		l->count = count < LEAK_NONE ? (uint32_t)count : 0;
		l->leader = calloc((size_t)l->count + 1, sizeof(*l->leader));
		l->size = calloc((size_t)l->count + 1, sizeof(*l->size));
		l->first = calloc((size_t)l->count + 1, sizeof(*l->first));
		c->in->bad |= !l->leader || !l->size || !l->first || count >= LEAK_NONE;
	}
	if (!c->out && c->in->bad)
		return;
	l->edge = items(c, l->edge, &edges, 1, sizeof(*l->edge));
	for (uint32_t i = 0; i < l->count; i++) {
		uint64_t n = l->first[i + 1] - l->first[i];

		index_or_none(c, &l->row[i], rows);
		index_or_none(c, &l->leader[i], l->count);
		MEMBER(c, l->size[i], UINT64_MAX);
		number(c, &n, edges - at);
		if (!c->out)
			l->first[i + 1] = at + n;
		at += n;
	}
	for (size_t i = 0; i < at; i++)
		MEMBER(c, l->edge[i], l->count - 1);
}

/* ---- texts ---- */

static void word_get(struct bytes_cursor *c, char *out, size_t cap)
{
	size_t len = 0;
	const char *text = bytes_read_text(c, cap - 1, &len);

	text_clean(out, cap, text ? text : "", text ? len : 0);
}

/* With a 0 behind it. */
static char *text_copy(const char *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = 0;
	}
	return copy;
}

/* Text by text, each where it was. The first byte belongs to none. */
static void texts_clean(char *out, const char *text, size_t len)
{
	for (size_t i = 1; i < len; i += strlen(text + i) + 1)
		text_clean(out + i, len - i + 1, text + i, strlen(text + i));
}

/* All texts in one piece, which ends in 0; `how` is behind it. */
static int texts_get(struct bytes_cursor *c, struct leak_result *r)
{
	char how[WORD_MOST];
	size_t len = 0;
	const char *text;
	char *copy;

	word_get(c, how, sizeof(how));
	word_get(c, r->access.no_copy, sizeof(r->access.no_copy));
	text = bytes_read_text(c, TEXT_MOST, &len);
	if (!text || c->bad)
		return -EPROTO;
	r->text = calloc(1, len + sizeof(how) + 1);
	copy = text_copy(text, len);
	if (!r->text || !copy) {
		free(copy);
		return -ENOMEM;
	}
	texts_clean(r->text, copy, len);
	free(copy);
	memcpy(r->text + len + 1, how, sizeof(how));
	r->text_bytes = len;
	r->access.how = r->text + len + 1;
	return 0;
}

static void texts_put(struct bytes *b, const struct leak_result *r)
{
	bytes_add_text(b, r->access.how);
	bytes_add_text(b, r->access.no_copy);
	bytes_number(b, r->text_bytes);
	if (r->text_bytes > 0)
		bytes_add(b, "", 1);
	if (r->text_bytes > 1)
		bytes_add(b, r->text + 1, r->text_bytes - 1);
}

/* ---- the whole ---- */

static void access(struct carrier *c, struct leak_access_report *a)
{
	uint64_t refused = a->refused == -EACCES ? 1 : a->refused == -EPERM ? 2 : 0;

	number(c, &refused, 2);
	if (!c->out)
		a->refused = refused == 1 ? -EACCES : refused == 2 ? -EPERM : 0;
	MEMBER(c, a->copied, 1);
	MEMBER(c, a->copy_left, 1);
	MEMBER(c, a->snapshots, UINT32_MAX);
	MEMBER(c, a->consented, 1);
	MEMBER(c, a->at_exit, 1);
	MEMBER(c, a->stop_ns, UINT64_MAX);
	MEMBER(c, a->busy, UINT32_MAX);
}

static void scan(struct carrier *c, struct leak_result *r)
{
	uint64_t none = r->no_holders == 0 ? 0 : r->no_holders == -E2BIG ? 1 : 2;

	number(c, &none, 2);
	if (!c->out)
		r->no_holders = none == 0 ? 0 : none == 1 ? -E2BIG : -ENOMEM;
	MEMBER(c, r->holders_ns, UINT64_MAX);
	MEMBER(c, r->scan_ns, UINT64_MAX);
	MEMBER(c, r->scanned_bytes, UINT64_MAX);
	MEMBER(c, r->unread_bytes, UINT64_MAX);
	MEMBER(c, r->devices, UINT32_MAX);
	MEMBER(c, r->unknown, 1);
	MEMBER(c, r->threads, UINT32_MAX);
	MEMBER(c, r->running, UINT32_MAX);
	MEMBER(c, r->has_contents, 1);
	sum(c, &r->held);
	sum(c, &r->typed);
	for (unsigned i = 0; i < LEAK_CLASSES; i++)
		sum(c, &r->sum[i]);
	for (unsigned i = 0; i < LEAK_HEURISTICS; i++) {
		sum(c, &r->heuristic[i]);
		sum(c, &r->heuristic_indirect[i]);
	}
}

/* Counts come before what refers to them: steps, blocks and rows in this order; blocks refer to
 * lost blocks, which refer to rows by number only. */
static void arrays(struct carrier *c, struct leak_result *r)
{
	size_t rows = r->rows;

	MEMBER(c, rows, c->out ? UINT64_MAX : (uint64_t)(c->in->end - c->in->at));
	lost_graph(c, &r->lost_graph, rows);
	if (!c->out && c->in->bad)
		return;
	r->step = items(c, r->step, &r->step_count, 4, sizeof(*r->step));
	for (size_t i = 0; i < r->step_count; i++)
		step(c, &r->step[i], r);
	r->block = items(c, r->block, &r->block_count, 14, sizeof(*r->block));
	for (size_t i = 0; i < r->block_count; i++)
		shown(c, &r->block[i], r);
	r->row = items(c, r->row, &r->rows, 17, sizeof(*r->row));
	if (!c->out)
		c->in->bad |= rows != r->rows;
	for (size_t i = 0; i < r->rows; i++)
		row(c, &r->row[i], r);
	r->holder = items(c, r->holder, &r->holders, 7, sizeof(*r->holder));
	for (size_t i = 0; i < r->holders; i++)
		holder(c, &r->holder[i], r, i);
	r->cycle = items(c, r->cycle, &r->cycles, 10, sizeof(*r->cycle));
	for (size_t i = 0; i < r->cycles; i++)
		cycle(c, &r->cycle[i]);
	if (r->has_contents)
		contents(c, &r->contents);
}

/* A result without blocks has none because none were requested. */
static void parts(struct carrier *c, struct leak_result *r)
{
	bool with_blocks = r->block != NULL;

	access(c, &r->access);
	scan(c, r);
	MEMBER(c, with_blocks, 1);
	arrays(c, r);
	if (with_blocks || c->out)
		return;
	free(r->block);
	r->block = NULL;
	r->block_count = 0; /* who sends some all the same is not believed */
	for (size_t i = 0; i < r->rows; i++)
		r->row[i].first_block = r->row[i].blocks = 0;
}

void leak_result_bytes_put(struct bytes *b, const struct leak_result *r)
{
	struct leak_result copy = *r; /* nothing of it is changed, but its members are written to */
	struct carrier c = { .out = b };

	texts_put(b, r);
	parts(&c, &copy);
}

int leak_result_bytes_get(struct bytes_cursor *in, struct leak_result *r)
{
	struct carrier c = { .in = in };
	int rc;

	*r = (struct leak_result){ 0 };
	errno = 0;
	rc = texts_get(in, r);
	if (rc == 0) {
		parts(&c, r);
		rc = in->bad ? (errno == ENOMEM ? -ENOMEM : -EPROTO) : 0;
	}
	if (rc != 0)
		leak_result_free(r);
	return rc;
}
