/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images that an agent serves: one that was found is the next one until it is served. */
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/far/agent_view.h"
#include "src/far/channel.h"
#include "src/proc/proc.h"
#include "tests/unit/segment_fixture.h"

static struct read_segment *newest;
static unsigned asked;

static struct read_segment *next(void *ctx)
{
	(void)ctx;
	asked++;
	return newest;
}

/* A desk that only takes what comes. */
static pid_t desk_start(struct far_channel *line)
{
	char sink[4096];
	pid_t desk;
	int fd[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	desk = fork();
	if (desk == 0) {
		close(fd[0]);
		while (read(fd[1], sink, sizeof(sink)) > 0)
			;
		_exit(0);
	}
	close(fd[1]);
	memset(line, 0, sizeof(*line));
	CHECK_INT(far_channel_open(line, fd[0], fd[0]), 0);
	return desk;
}

static void tick(struct far_agent_view *v)
{
	v->next_due_ns = 0;
	CHECK_INT(far_agent_view_tick(v, ""), 0);
}

TEST(none_is_looked_for_while_one_waits)
{
	struct read_segment *image[3];
	struct made made[3];
	struct far_agent_view v;
	struct far_channel line;
	pid_t desk = desk_start(&line);

	for (unsigned i = 0; i < 3; i++) {
		made_open(&made[i], &fixture_identity);
		CHECK_INT(proc_start_ticks(getpid(), &made[i].s.header->start_ticks), 0);
		image[i] = made_read(&made[i]);
	}
	CHECK_INT(
		far_agent_view_open(&v, 1,
			&(struct far_process){ .segment = image[0], .pid = getpid(), .next = next },
			&line),
		0);
	newest = image[1];
	tick(&v);
	CHECK(asked == 1 && v.next == image[1] && v.segment == image[0]);
	/* Who finds the third closes the first, which is served. */
	newest = image[2];
	tick(&v);
	CHECK(asked == 1 && v.next == image[1] && v.segment == image[0]);
	CHECK_INT(far_agent_view_image(&v), 0);
	CHECK(v.next == NULL && v.segment == image[1]);
	tick(&v);
	CHECK(asked == 2 && v.next == image[2] && v.segment == image[1]);
	far_agent_view_close(&v);
	close(line.in);
	far_channel_free(&line);
	CHECK(waitpid(desk, NULL, 0) == desk);
	for (unsigned i = 0; i < 3; i++) {
		read_close(image[i]);
		made_close(&made[i]);
	}
}

int main(void)
{
	RUN(none_is_looked_for_while_one_waits);
	return check_end();
}
