/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A desk whose agent answers late, or sends without end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/layout.h"
#include "src/far/channel.h"
#include "src/far/desk.h"
#include "tests/check.h"

#define FOREVER 20000

static char path[64];

/* ---- the agent: a child ---- */

static void send_out(struct far_channel *c, enum far_type type, struct bytes *b)
{
	if (far_channel_send(c, type, b->data, b->len, FOREVER) != 0)
		_exit(0);
	b->len = 0;
}

/* The next frame that the desk sends. */
static struct far_frame take(struct far_channel *c)
{
	struct far_frame f = { 0 };

	while (far_channel_next(c, &f) == 0)
		if (far_channel_fill(c, FOREVER) != 1)
			_exit(0);
	return f;
}

static void tick_of(struct far_channel *c, struct bytes *b, const struct far_tick *t)
{
	far_process_put(b, NULL, NULL, 0);
	send_out(c, FAR_PROCESS, b);
	far_tick_put(b, t);
	send_out(c, FAR_TICK, b);
}

static void tick(struct far_channel *c, struct bytes *b)
{
	tick_of(c, b, &(struct far_tick){ .alive = true });
}

static void piece(struct far_channel *c, struct bytes *b, uint64_t module, const char *text)
{
	far_piece_put(b, &(struct far_piece){ 0, module, 0, strlen(text) });
	bytes_add(b, text, strlen(text));
	send_out(c, FAR_PIECE, b);
}

static void hello(struct far_channel *c, struct bytes *b, unsigned view, const char *host)
{
	struct far_hello h = { .protocol = FAR_PROTOCOL,
		.signature = HT_SIGNATURE,
		.order = 1,
		.view = view,
		.segment_bytes = 4096,
		.sends_files = true };

	snprintf(h.host, sizeof(h.host), "%s", host);
	far_hello_put(b, &h);
	send_out(c, FAR_HELLO, b);
}

static void begin(struct far_channel *c, struct bytes *b, int fd)
{
	if (far_channel_open(c, fd, fd) != 0)
		_exit(1);
	hello(c, b, 0, "first");
	while (take(c).type != FAR_NEXT)
		;
	tick(c, b);
}

/* Answers the first question about a file only when there is a second. */
static void late(struct far_channel *c, struct bytes *b)
{
	while (take(c).type != FAR_FILE)
		;
	while (take(c).type != FAR_FILE)
		;
	piece(c, b, 1, "the first");
	piece(c, b, 2, "the second");
	take(c);
	piece(c, b, 3, "not asked for");
}

/* Never ends a tick. */
static void endless(struct far_channel *c, struct bytes *b)
{
	while (take(c).type != FAR_NEXT)
		;
	for (;;) {
		far_process_put(b, NULL, NULL, 0);
		send_out(c, FAR_PROCESS, b);
	}
}

static void absent(struct far_channel *c, struct bytes *b, unsigned view)
{
	far_choice_put(b, &(struct far_choice){ view, 8, "gone\033[2J" });
	send_out(c, FAR_ABSENT, b);
}

/* Lists two processes, opens one of them, and has ended the other. */
static void others(struct far_channel *c, struct bytes *b)
{
	const struct far_row rows[2] = { { .id = 7, .pid = 12 }, { .id = 8, .pid = 13 } };

	while (take(c).type != FAR_LIST)
		;
	far_rows_put(b, rows, 2, 5);
	send_out(c, FAR_PROCESSES, b);
	while (take(c).type != FAR_OPEN)
		;
	hello(c, b, 3, "second");
	while (take(c).type != FAR_NEXT)
		;
	tick(c, b);
	while (take(c).type != FAR_OPEN)
		;
	absent(c, b, 2);
}

static void choice_await(struct far_channel *c)
{
	while (take(c).type != FAR_OPEN)
		;
}

/* Of another view than the one that was asked for. */
static void unasked_greeting(struct far_channel *c, struct bytes *b)
{
	choice_await(c);
	hello(c, b, 1, "?");
}

static void unasked_refusal(struct far_channel *c, struct bytes *b)
{
	choice_await(c);
	absent(c, b, 1);
}

static void unasked_rows(struct far_channel *c, struct bytes *b)
{
	choice_await(c);
	far_rows_put(b, NULL, 0, 0);
	send_out(c, FAR_PROCESSES, b);
}

/* Ends the first process of view 1 by exec, and answers the request for its next image only once
 * the desk has chosen another process for that view. */
static void image_then_choice(struct far_channel *c, struct bytes *b)
{
	const struct far_tick replaced = { .alive = true, .replaced = true, .next = true };
	bool has_asked = false;

	choice_await(c);
	hello(c, b, 1, "second");
	while (take(c).type != FAR_NEXT)
		;
	tick_of(c, b, &replaced);
	for (struct far_frame f = take(c); f.type != FAR_OPEN; f = take(c))
		has_asked |= f.type == FAR_IMAGE;
	if (!has_asked)
		_exit(1);
	tick(c, b); /* of view 0 */
	hello(c, b, 1, "second, next image");
	tick(c, b);
	hello(c, b, 1, "third");
	while (take(c).type != FAR_NEXT)
		;
	tick(c, b);
}

static pid_t agent_start(void (*answer)(struct far_channel *c, struct bytes *b))
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct far_channel c;
	struct bytes b = { 0 };
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/heaptop-far-desk-%d", (int)getpid());
	strcpy(a.sun_path, path);
	unlink(path); /* what was left by another with this pid */
	CHECK(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0);
	pid = fork();
	if (pid == 0) {
		begin(&c, &b, accept(fd, NULL, NULL));
		answer(&c, &b);
		while (take(&c).type)
			;
		_exit(0);
	}
	close(fd);
	return pid;
}

/* ---- the desk ---- */

static struct far_desk *desk_start(void)
{
	const struct far_place where = { .socket = path };
	char message[FAR_PEER_MESSAGE] = "";
	struct far_peer peer;
	struct far_desk *d;

	CHECK_INT(far_peer_open(&peer, &where, message), 0);
	CHECK_INT(far_desk_open(&d, &peer, FOREVER, message), 0);
	CHECK_STR(message, "");
	unlink(path);
	return d;
}

static void end(struct far_desk *d, pid_t agent)
{
	far_desk_close(d);
	kill(agent, SIGKILL);
	waitpid(agent, NULL, 0);
}

TEST(late_piece)
{
	pid_t agent = agent_start(late);
	struct far_desk *d = desk_start();
	FILE *first = tmpfile(), *second = tmpfile();
	char text[32] = "";

	CHECK_INT(far_desk_file(d, 0, 1, fileno(first), 100, 1), -ETIMEDOUT);
	CHECK_INT(far_desk_file(d, 0, 2, fileno(second), 100, FOREVER), 0);
	CHECK_INT(pread(fileno(first), text, sizeof(text), 0), 0);
	CHECK_INT(pread(fileno(second), text, sizeof(text) - 1, 0), strlen("the second"));
	CHECK_STR(text, "the second");
	CHECK(far_desk_ended(d) == NULL);
	CHECK(!far_desk_tick(d, FOREVER));
	CHECK(far_desk_ended(d) != NULL);
	fclose(first);
	fclose(second);
	end(d, agent);
}

TEST(no_end)
{
	pid_t agent = agent_start(endless);
	struct far_desk *d = desk_start();

	CHECK(!far_desk_tick(d, 0));
	CHECK(!far_desk_tick(d, 100));
	CHECK(far_desk_ended(d) == NULL);
	end(d, agent);
}

static size_t rows_await(struct far_desk *d, const struct far_row **rows, uint64_t *more)
{
	size_t count = far_desk_rows(d, rows, more);

	for (unsigned i = 0; i < 100 && count == 0; i++) {
		far_desk_listen(d, FOREVER);
		count = far_desk_rows(d, rows, more);
	}
	return count;
}

TEST(other_processes)
{
	pid_t agent = agent_start(others);
	struct far_desk *d = desk_start();
	const struct far_row *rows;
	const char *why;
	uint64_t more;
	unsigned tries = 0;

	CHECK_INT(rows_await(d, &rows, &more), 2);
	CHECK_INT(more, 5);
	CHECK_INT(rows[1].pid, 13);
	CHECK_INT(far_desk_choose(d, 3, 7), 0);
	CHECK_INT(far_desk_choose(d, 3, 8), -EBUSY);
	CHECK_INT(far_desk_chosen(d, 3, &why), 0);
	while (far_desk_chosen(d, 3, &why) == 0 && tries++ < 100)
		far_desk_listen(d, FOREVER);
	CHECK_INT(far_desk_chosen(d, 3, &why), 1);
	CHECK_STR(far_desk_moment(d, 3)->agent.host, "second");
	CHECK_STR(far_desk_moment(d, 0)->agent.host, "first");
	CHECK(strcmp(far_desk_path(d, 3), far_desk_path(d, 0)) != 0);
	CHECK_INT(far_desk_choose(d, 2, 8), 0);
	while (far_desk_chosen(d, 2, &why) == 0 && tries++ < 100)
		far_desk_listen(d, FOREVER);
	CHECK_INT(far_desk_chosen(d, 2, &why), -ESRCH);
	CHECK(strncmp(why, "gone", 4) == 0 && !strchr(why, '\033'));
	CHECK(far_desk_ended(d) == NULL);
	end(d, agent);
}

static int chosen_await(struct far_desk *d, unsigned view)
{
	const char *why;
	int rc = 0;

	for (unsigned i = 0; i < 100 && rc == 0; i++) {
		rc = far_desk_chosen(d, view, &why);
		if (rc == 0)
			far_desk_listen(d, FOREVER);
	}
	return rc;
}

TEST(a_choice_while_an_image_is_asked_for)
{
	pid_t agent = agent_start(image_then_choice);
	struct far_desk *d = desk_start();

	CHECK_INT(far_desk_choose(d, 1, 7), 0);
	CHECK_INT(chosen_await(d, 1), 1);
	CHECK(far_desk_moment(d, 1)->tick.next);
	(void)far_desk_tick(d, 0); /* asks for the next image */
	CHECK_INT(far_desk_choose(d, 1, 8), 0);
	CHECK_INT(chosen_await(d, 1), 1);
	CHECK(far_desk_ended(d) == NULL);
	CHECK_STR(far_desk_moment(d, 1)->agent.host, "third");
	CHECK(!far_desk_image(d, 1)); /* that image was of the process before */
	end(d, agent);
}

static void ends_with(void (*answer)(struct far_channel *c, struct bytes *b))
{
	pid_t agent = agent_start(answer);
	struct far_desk *d = desk_start();

	CHECK_INT(far_desk_choose(d, 2, 7), 0);
	for (unsigned i = 0; i < 100 && !far_desk_ended(d); i++)
		far_desk_listen(d, FOREVER);
	CHECK(strstr(far_desk_ended(d), "not heaptop's protocol") != NULL);
	end(d, agent);
}

TEST(what_was_not_asked_for)
{
	ends_with(unasked_greeting);
	ends_with(unasked_refusal);
	ends_with(unasked_rows);
}

int main(void)
{
	RUN(other_processes);
	RUN(a_choice_while_an_image_is_asked_for);
	RUN(what_was_not_asked_for);
	RUN(late_piece);
	RUN(no_end);
	return check_end();
}
