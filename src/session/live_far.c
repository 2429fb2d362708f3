/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks on another machine (live_far.h). */
#include "src/session/live_far.h"

#include <errno.h>

#include "src/session/live_allocs.h"

/* Larger answers are none: a desk takes no more than 64 MB of anything. */
#define ANSWER_MOST (UINT64_C(32) << 20)

#define DELAY_MOST UINT64_C(10000000000) /* longer ones are cut */

static void request_put(struct bytes *b, const struct live_request *r)
{
	bytes_number(b, r->has_site);
	bytes_number(b, r->has_site ? r->site : 0);
	bytes_number(b, r->all);
	live_cuts_put(b, &r->cuts);
}

int live_far_request_get(struct bytes_cursor *c, struct live_request *out)
{
	out->has_site = bytes_read_below(c, 1) != 0;
	out->site = (uint32_t)bytes_read_below(c, HT_SITES_MAX - 1);
	out->all = bytes_read_below(c, 1) != 0;
	if (live_cuts_get(c, &out->cuts) != 0 || c->at < c->end)
		return -EPROTO;
	return 0;
}

int live_far_begin(const struct far_order *far, const struct live_request *r)
{
	struct bytes b = { 0 };
	int rc;

	request_put(&b, r);
	rc = b.failed ? -ENOMEM : far->begin(far->ctx, &b);
	bytes_free(&b);
	return rc;
}

static int answer_get(struct bytes_cursor c, struct live_answer *out)
{
	out->delay_ns = bytes_read_below(&c, DELAY_MOST);
	out->has_allocs = bytes_read_below(&c, 1) != 0;
	out->allocs = bytes_read(&c);
	out->all = bytes_read_cursor(&c);
	out->groups = c;
	return c.bad ? -EPROTO : 1;
}

int live_far_take(const struct far_order *far, int timeout_ms, struct live_answer *out)
{
	struct far_working said;
	struct bytes_cursor answer;
	const char *why;
	int rc = far->take(far->ctx, timeout_ms, &said, &answer, &why);

	return rc > 0 ? answer_get(answer, out) : rc;
}

/* ---- the agent ---------------------------------------------------------------------------- */

struct answering {
	struct live_groups *groups;
	uint64_t delay_ns;
	bool whole;
};

static void block_visit(void *ctx, const struct read_block *b)
{
	struct answering *a = ctx;

	a->whole = a->whole && live_groups_add(a->groups, b);
}

/* With its length before it. */
static void all_put(struct bytes *out, struct read_segment *s)
{
	struct live_allocs all;
	struct bytes b = { 0 };

	out->failed |= live_allocs_read(&all, s) != 0;
	live_allocs_put(&b, &all);
	out->failed |= b.failed;
	bytes_number(out, b.len);
	bytes_add(out, b.data, b.len);
	bytes_free(&b);
	live_allocs_free(&all);
}

static void answer_put(struct bytes *out, struct read_segment *s, const struct live_request *r,
	struct answering *a)
{
	struct read_site site = { 0 };

	if (read_blocks(s, block_visit, a) < 0 || !a->whole) {
		out->failed = true;
		return;
	}
	bytes_number(out, a->delay_ns < DELAY_MOST ? a->delay_ns : DELAY_MOST);
	/* After the walk: no fewer than there are live blocks. */
	bytes_number(out, r->has_site && read_sites(s, r->site, &site, 1) == 1);
	bytes_number(out, site.allocs);
	if (r->all)
		all_put(out, s);
	else
		bytes_number(out, 0);
	live_groups_put(out, a->groups);
	out->failed |= out->len > ANSWER_MOST;
}

void live_far_answer(
	struct read_segment *s, const struct live_request *r, uint64_t delay_ns, struct bytes *out)
{
	struct answering a = {
		.groups = live_groups_new(&r->cuts), .delay_ns = delay_ns, .whole = true
	};

	if (a.groups)
		answer_put(out, s, r, &a);
	else
		out->failed = true;
	live_groups_free(a.groups);
}
