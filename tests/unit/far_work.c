/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work for a desk that has ended: what its worker keeps for the next request goes by a cancel. */
#include <sys/socket.h>
#include <unistd.h>

#include "src/far/agent_work.h"
#include "src/far/desk_work.h"
#include "tests/unit/segment_fixture.h"

#define SENT_MS 20000

static unsigned begun, cancelled;
static const struct bytes found = { (uint8_t *)(uintptr_t) "found", 5, 5, false };

static int one_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	(void)ctx;
	(void)segment;
	(void)pid;
	(void)request;
	(void)len;
	begun++;
	return 0;
}

static void one_cancel(void *ctx)
{
	(void)ctx;
	cancelled++;
}

static bool endless_look(void *ctx, struct far_working *s, const struct bytes **out)
{
	(void)ctx;
	(void)s;
	(void)out;
	return false;
}

static bool one_look(void *ctx, struct far_working *s, const struct bytes **out)
{
	(void)ctx;
	(void)s;
	*out = &found;
	return true;
}

static const struct far_worker worker = { NULL, one_begin, one_cancel, one_look, one_cancel };

static const struct far_worker endless = { NULL, one_begin, one_cancel, endless_look, one_cancel };

static struct far_frame frame_await(struct far_channel *line)
{
	struct far_frame f = { 0 };

	while (far_channel_next(line, &f) == 0)
		if (far_channel_fill(line, SENT_MS) != 1)
			return f;
	return f;
}

/* The agent's side of the next frame. */
static void agent_take(struct far_agent_work *w, struct far_channel *line)
{
	struct far_frame f = frame_await(line);
	struct bytes_cursor c = { f.data, f.data + f.len, false };
	enum far_kind kind;

	CHECK_INT(far_kind_get(&c, &kind), 0);
	CHECK_INT(kind, w->kind);
	CHECK_INT(far_agent_work_take(w, line, f.type, &c), 0);
	CHECK_INT(far_agent_work_report(w, line), 0);
}

static void desk_take(struct far_desk_work *w, struct far_channel *line)
{
	struct far_frame f = frame_await(line);
	struct bytes_cursor c = { f.data, f.data + f.len, false };
	struct far_working said;
	struct far_part part;

	if (f.type == FAR_WORKING) {
		CHECK_INT(far_working_get(&c, &said), 0);
		CHECK_INT(far_desk_work_said(w, line, &said, 100), 0);
		return;
	}
	CHECK_INT(f.type, FAR_FOUND);
	CHECK_INT(far_part_get(&c, &part), 0);
	CHECK_INT(far_desk_work_part(w, line, &part, &c), 0);
}

static void lines_close(struct far_channel line[2])
{
	for (unsigned i = 0; i < 2; i++) {
		close(line[i].in);
		far_channel_free(&line[i]);
	}
}

static void lines_open(struct far_channel line[2])
{
	int fd[2];

	memset(line, 0, 2 * sizeof(*line));
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	CHECK_INT(far_channel_open(&line[0], fd[0], fd[0]), 0);
	CHECK_INT(far_channel_open(&line[1], fd[1], fd[1]), 0);
}

TEST(a_cancel_of_what_has_ended)
{
	struct made made;
	struct read_segment *s;
	struct far_channel line[2];
	struct far_agent_work there = { .kind = FAR_EVENTS, .worker = &worker };
	struct far_desk_work here = { .kind = FAR_EVENTS };
	const struct bytes request = { 0 };

	made_open(&made, &fixture_identity);
	s = made_read(&made);
	there.segment = s;
	lines_open(line);
	CHECK_INT(far_desk_work_cancel(&here, &line[0]), 0); /* nothing was asked for */
	CHECK_INT(far_desk_work_begin(&here, &line[0], 0, &request), 0);
	agent_take(&there, &line[1]);
	CHECK(begun == 1 && cancelled == 0 && !there.runs && here.runs);
	/* It has ended there, and here nothing of that is known yet. */
	CHECK_INT(far_desk_work_cancel(&here, &line[0]), 0);
	agent_take(&there, &line[1]);
	CHECK_INT(cancelled, 1);
	desk_take(&here, &line[0]);
	agent_take(&there, &line[1]);
	desk_take(&here, &line[0]);
	CHECK(!here.runs && here.found.len == found.len);
	/* It has ended here, too. */
	CHECK_INT(far_desk_work_cancel(&here, &line[0]), 0);
	agent_take(&there, &line[1]);
	CHECK_INT(cancelled, 2);
	/* An agent that does no such work. */
	there.worker = NULL;
	CHECK_INT(far_desk_work_cancel(&here, &line[0]), 0);
	agent_take(&there, &line[1]);
	CHECK_INT(cancelled, 2);
	far_desk_work_free(&here);
	lines_close(line);
	read_close(s);
	made_close(&made);
}

/* Else a desk would take it for one that is silent. */
TEST(work_without_progress_is_still_reported)
{
	struct far_channel line[2];
	struct far_agent_work there = { .kind = FAR_LEAKS, .worker = &endless, .runs = true };
	const uint64_t before = clock_monotonic_ns();
	struct far_working said;
	struct far_frame f;
	struct bytes_cursor c;

	lines_open(line);
	there.said.kind = there.kind;
	there.said_ns = before - FAR_ALIVE_NS;
	CHECK_INT(far_agent_work_report(&there, &line[1]), 0);
	f = frame_await(&line[0]);
	c = (struct bytes_cursor){ f.data, f.data + f.len, false };
	CHECK_INT(f.type, FAR_WORKING);
	CHECK_INT(far_working_get(&c, &said), 0);
	CHECK_INT(said.state, FAR_WORK_RUNS);
	CHECK(there.said_ns >= before);
	lines_close(line);
}

int main(void)
{
	RUN(work_without_progress_is_still_reported);
	RUN(a_cancel_of_what_has_ended);
	return check_end();
}
