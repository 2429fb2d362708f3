/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An agent's walks over the live blocks of a segment whose name has been removed. */
#include "src/run/agent_walks.h"

#include <unistd.h>

#include "src/session/live_far.h"
#include "tests/unit/segment_fixture.h"

static struct made made;
static struct bytes asked; /* a request */

static int request_keep(void *ctx, const struct bytes *request)
{
	(void)ctx;
	bytes_add(&asked, request->data, request->len);
	return 0;
}

static int answer_take(void *ctx, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	(void)timeout_ms;
	(void)said;
	*why = "";
	*answer = bytes_begin(ctx);
	return 1;
}

static void blocks_count(void *ctx, const struct live_group *g)
{
	*(uint64_t *)ctx += g->blocks;
}

/* The blocks that a walk finds; meanwhile the agent's main thread reads the segment. */
static uint64_t walked(const struct far_worker *w, struct read_segment *s)
{
	const struct bytes *found = NULL;
	struct far_working said = { 0 };
	struct far_order order = { .begin = request_keep, .take = answer_take };
	static struct live_request r;
	struct read_identity id;
	struct live_answer answer;
	uint64_t blocks = 0;

	asked.len = 0;
	CHECK_INT(live_far_begin(&order, &r), 0);
	CHECK_INT(w->begin(w->ctx, s, 0, asked.data, asked.len), 0);
	while (!w->look(w->ctx, &said, &found))
		CHECK_INT(read_identity(s, &id), 0);
	CHECK(!found->failed);
	order.ctx = (void *)(uintptr_t)found;
	CHECK_INT(live_far_take(&order, 0, &answer), 1);
	CHECK_INT(live_groups_each(answer.groups, blocks_count, &blocks), 0);
	return blocks;
}

TEST(a_segment_without_a_name)
{
	struct agent_walks *a = agent_walks_new();
	const struct far_worker *w = agent_walks_worker(a);
	struct read_segment *s;

	made_open(&made, &fixture_identity);
	made_fill(&made);
	s = made_read(&made);
	CHECK_INT(walked(w, s), (MADE_SITES - 1) * MADE_BLOCKS / 2);
	CHECK_INT(unlink(made.path), 0);
	CHECK_INT(walked(w, s), (MADE_SITES - 1) * MADE_BLOCKS / 2);
	/* It may be closed before the walk is made, as after exec. */
	CHECK_INT(w->begin(w->ctx, s, 0, asked.data, asked.len), 0);
	read_close(s);
	w->cancel(w->ctx);
	agent_walks_free(a);
	bytes_free(&asked);
	made_close(&made);
}

int main(void)
{
	RUN(a_segment_without_a_name);
	return check_end();
}
