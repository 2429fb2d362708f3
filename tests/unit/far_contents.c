/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of blocks from another machine: what the agent reads, and what the screen has of it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/run/agent_contents.h"
#include "src/run/far_contents.h"
#include "tests/check.h"

static struct agent_contents agent;
static pid_t of; /* the process there */
static unsigned begun;
static bool late, lost;

/* The way there without a connection. */
static int order_begin(void *ctx, const struct bytes *request)
{
	(void)ctx;
	begun++;
	CHECK(request->len <= FAR_REQUEST_MAX);
	if (lost)
		return -EPERM;
	return agent.worker.begin(agent.worker.ctx, NULL, of, request->data, request->len);
}

static void order_cancel(void *ctx)
{
	(void)ctx;
}

static int order_take(void *ctx, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	const struct bytes *found;

	(void)ctx;
	(void)timeout_ms;
	*why = "it is lost";
	if (late)
		return 0;
	CHECK(agent.worker.look(agent.worker.ctx, said, &found));
	*answer = bytes_begin(found);
	return 1;
}

static int order_fd(void *ctx)
{
	(void)ctx;
	return -1;
}

static struct far_contents contents;

static void desk_begin(void)
{
	agent_contents_free(&agent);
	agent_contents_init(&agent);
	contents = (struct far_contents){ .order = { NULL, order_begin, order_cancel, order_take,
						  order_fd } };
	of = getpid();
	begun = 0;
	late = lost = false;
}

static long got(const void *block, void *out, size_t bytes)
{
	return far_contents_read(&contents, (uint64_t)(uintptr_t)block, out, bytes);
}

TEST(it_is_on_the_way_and_then_there)
{
	static const char block[64] = "what is in the block";
	char out[64] = "";

	desk_begin();
	late = true;
	CHECK_INT(got(block, out, sizeof(out)), -EAGAIN);
	CHECK(far_contents_awaits(&contents) && !far_contents_listen(&contents));
	CHECK_INT(got(block, out, sizeof(out)), -EAGAIN);
	CHECK_INT(begun, 1);
	late = false;
	CHECK(far_contents_listen(&contents));
	CHECK(!far_contents_awaits(&contents));
	CHECK_INT(got(block, out, sizeof(out)), sizeof(out));
	CHECK_INT(memcmp(out, block, sizeof(out)), 0);
	CHECK_INT(begun, 1); /* it is not old yet */
}

TEST(more_blocks_than_fit_into_a_request)
{
	static char block[FAR_CONTENTS_KEPT][8];
	char out[8];
	unsigned have = 0;

	desk_begin();
	for (unsigned round = 0; round < 4; round++) {
		have = 0;
		for (unsigned i = 0; i < FAR_CONTENTS_KEPT; i++) {
			memset(block[i], (int)i + 1, sizeof(block[i]));
			if (got(block[i], out, sizeof(out)) == (long)sizeof(out)) {
				CHECK_INT(out[0], (int)i + 1);
				have++;
			}
		}
		(void)far_contents_listen(&contents);
	}
	CHECK_INT(have, FAR_CONTENTS_KEPT);
	for (unsigned i = 0; i < 200; i++) /* each takes the place of an older one */
		CHECK_INT(got(block[0] + i, out, 3), -EAGAIN);
}

TEST(memory_that_is_not_there)
{
	char out[8];

	desk_begin();
	CHECK_INT(got((void *)8, out, sizeof(out)), -EAGAIN);
	CHECK(far_contents_listen(&contents));
	CHECK_INT(got((void *)8, out, sizeof(out)), 0);
	CHECK_INT(got(out, out, 0), 0);
	desk_begin();
	lost = true;
	CHECK_INT(got(out, out, sizeof(out)), -EPERM);
	CHECK(!far_contents_awaits(&contents));
	desk_begin();
	of = 0;
	CHECK_INT(got(out, out, sizeof(out)), -EAGAIN);
	CHECK(far_contents_listen(&contents));
	CHECK_INT(got(out, out, sizeof(out)), 0);
}

TEST(another_process_has_other_contents)
{
	static const char block[8] = "block";
	char out[8];

	desk_begin();
	CHECK_INT(got(block, out, sizeof(out)), -EAGAIN);
	CHECK(far_contents_listen(&contents));
	CHECK_INT(got(block, out, sizeof(out)), sizeof(out));
	far_contents_forget(&contents);
	CHECK_INT(got(block, out, sizeof(out)), -EAGAIN);
}

/* Requests and answers that are cut or spoilt at every byte. */
TEST(hostile_requests_and_answers)
{
	struct contents_range r[CONTENTS_RANGES] = { { .addr = UINT64_MAX, .bytes = 256 },
		{ .addr = 1, .bytes = 64, .got = 3, .data = "abc" } };
	struct contents_range back[CONTENTS_RANGES];
	struct bytes b = { 0 };
	size_t count;

	contents_request_put(&b, r, 2);
	for (size_t n = 0; n < b.len; n++) {
		struct bytes_cursor c = { b.data, b.data + n, false };

		CHECK_INT(contents_request_get(&c, back, &count), -EPROTO);
	}
	for (size_t at = 0; at < b.len; at++)
		for (unsigned to = 0; to < 256; to++) {
			uint8_t was = b.data[at];
			struct bytes_cursor c = bytes_begin(&b);

			b.data[at] = (uint8_t)to;
			if (contents_request_get(&c, back, &count) == 0)
				CHECK(count <= CONTENTS_RANGES &&
					back[0].bytes <= CONTENTS_RANGE_MOST);
			b.data[at] = was;
		}
	b.len = 0;
	contents_answer_put(&b, r, 2);
	for (size_t n = 0; n <= b.len; n++) {
		struct bytes_cursor c = { b.data, b.data + n, false };

		memcpy(back, r, sizeof(r));
		CHECK_INT(contents_answer_get(&c, back, 2), n == b.len ? 0 : -EPROTO);
	}
	CHECK(back[1].got == 3 && memcmp(back[1].data, "abc", 3) == 0);
	b.data[1] = 65; /* more than was asked for */
	CHECK_INT(contents_answer_get(
			  &(struct bytes_cursor){ b.data, b.data + b.len, false }, back, 2),
		-EPROTO);
	bytes_free(&b);
}

int main(void)
{
	RUN(it_is_on_the_way_and_then_there);
	RUN(more_blocks_than_fit_into_a_request);
	RUN(memory_that_is_not_there);
	RUN(another_process_has_other_contents);
	RUN(hostile_requests_and_answers);
	agent_contents_free(&agent);
	return check_end();
}
