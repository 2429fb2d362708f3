/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An agent without a connection, which makes walks over the live blocks of a segment here. */
#ifndef TESTS_UNIT_LIVE_AGENT_H
#define TESTS_UNIT_LIVE_AGENT_H

#include <errno.h>

#include "src/session/live_far.h"
#include "tests/check.h"

struct live_agent {
	struct far_order order;
	const char *path; /* of its segment */
	unsigned begun;
	unsigned takes; /* until an answer is there */
	bool lost, refuses;
	struct bytes answer;
};

static inline int live_agent_begin(void *ctx, const struct bytes *request)
{
	static struct live_request r;
	struct live_agent *a = ctx;
	struct bytes_cursor c = bytes_begin(request);
	char message[READ_MESSAGE_MAX];
	struct read_segment *s;

	if (a->lost)
		return -EPIPE;
	CHECK(request->len <= FAR_REQUEST_MAX);
	CHECK_INT(live_far_request_get(&c, &r), 0);
	bytes_free(&a->answer);
	s = read_open(a->path, message);
	CHECK(s != NULL);
	live_far_answer(s, &r, 0, &a->answer);
	read_close(s);
	CHECK(!a->answer.failed);
	a->begun++;
	return 0;
}

static inline int live_agent_take(void *ctx, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	struct live_agent *a = ctx;

	(void)timeout_ms;
	(void)said;
	*why = "it is lost";
	if (a->lost || a->refuses)
		return -EPIPE;
	if (a->takes > 0 && a->takes--)
		return 0;
	*answer = bytes_begin(&a->answer);
	return 1;
}

static inline void live_agent_init(struct live_agent *a, const char *path)
{
	*a = (struct live_agent){ .path = path,
		.order = { .ctx = a, .begin = live_agent_begin, .take = live_agent_take } };
}

static inline void live_agent_free(struct live_agent *a)
{
	bytes_free(&a->answer);
}

/* Whether walks are an agent's; else they are made here. */
static bool live_agent_walks;

static inline const struct far_order *live_agent_order(const struct live_agent *a)
{
	return live_agent_walks ? &a->order : NULL;
}

/* A test of walks, made here and by an agent. */
#define RUN_BOTH(name)                                                                             \
	do {                                                                                       \
		live_agent_walks = false;                                                          \
		RUN(name);                                                                         \
		live_agent_walks = true;                                                           \
		check_run(#name ", by an agent", test_##name);                                     \
	} while (0)

#endif
