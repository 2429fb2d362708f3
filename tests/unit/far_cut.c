/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections that end after every number of bytes, in both directions: the desk has the whole of
 * what it asked for, or an end with a reason; the agent ends, and has let go of the program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/far/agent.h"
#include "src/far/channel.h"
#include "src/far/desk.h"
#include "tests/unit/segment_fixture.h"

#define FOUND_BYTES (FAR_PIECE_MAX + 1000u)
#define FAR_STEP    997u /* inside of long frames, a prime */

static struct made made;
static struct bytes greeting; /* what an agent sends up to the first tick */
static unsigned begun, left, closed;
static struct read_segment *opened[FAR_VIEWS];

/* ---- the agent ---- */

static int steer_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	CHECK(segment != NULL && pid == 0);
	(void)ctx;
	(void)request;
	(void)len;
	begun++;
	return 0;
}

static void steer_cancel(void *ctx)
{
	(void)ctx;
}

static bool steer_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	(void)ctx;
	s->read_bytes++;
	*found = NULL;
	return false;
}

static void steer_leave(void *ctx)
{
	(void)ctx;
	left++;
}

static const struct far_worker steer = { NULL, steer_begin, steer_cancel, steer_look, steer_leave };

static size_t others_list(void *ctx, struct far_row *rows, uint64_t *more)
{
	(void)ctx;
	rows[0] = (struct far_row){ .id = 7, .pid = 12, .command = "child" };
	*more = 3;
	return 1;
}

/* Only 7 is there. */
static int others_open(
	void *ctx, unsigned view, uint64_t id, struct far_process *out, char *why, size_t cap)
{
	char message[READ_MESSAGE_MAX];

	(void)ctx;
	CHECK(view > 0 && view < FAR_VIEWS && !opened[view]);
	snprintf(why, cap, "it is not there");
	if (id != 7)
		return -ESRCH;
	opened[view] = read_open(made.path, message);
	*out = (struct far_process){ .segment = opened[view] };
	return 0;
}

static void others_close(void *ctx, unsigned view)
{
	(void)ctx;
	CHECK(opened[view] != NULL);
	read_close(opened[view]);
	opened[view] = NULL;
	closed++;
}

static const struct far_others others = { NULL, others_list, others_open, others_close };

static int memory_of(const void *data, size_t len)
{
	int fd = memfd_create("far_cut", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static int agent_run(const struct bytes *said, size_t len, int out)
{
	char message[READ_MESSAGE_MAX];
	struct far_agent a = { .first.segment = read_open(made.path, message), .others = &others };
	int in = memory_of(said->data, len), rc;

	for (unsigned i = 0; i < FAR_KINDS; i++)
		a.worker[i] = &steer;
	CHECK(a.first.segment != NULL);
	rc = far_agent_serve(&a, in, out);
	read_close(a.first.segment);
	close(in);
	return rc;
}

static void frame_add(struct bytes *b, uint8_t type, const void *data, size_t len)
{
	const uint8_t head[] = { type, (uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16), 0 };

	bytes_add(b, head, sizeof(head));
	bytes_add(b, data, len);
}

TEST(what_a_desk_says_is_cut)
{
	static const uint8_t scan[] = { FAR_LEAKS, 1, 0, 2, 3 }, map[] = { FAR_MAP, 1, 0 };
	static const uint8_t file[] = { 0, 1, 0, 99 }, get[] = { FAR_LEAKS, 1, 0, 99 };
	static const uint8_t kind = FAR_LEAKS;
	static const uint8_t client[] = { 2, 1 }, first = 0, second = 2;
	static const uint8_t child[] = { 2, 7, 0 }, missing[] = { 3, 8, 0 };
	struct bytes said = { 0 };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	bytes_add(&said, FAR_MAGIC, FAR_MAGIC_BYTES);
	frame_add(&said, FAR_CLIENT, client, sizeof(client));
	frame_add(&said, FAR_NEXT, &first, 1);
	frame_add(&said, FAR_LIST, NULL, 0);
	frame_add(&said, FAR_OPEN, child, sizeof(child));
	frame_add(&said, FAR_OPEN, missing, sizeof(missing));
	frame_add(&said, FAR_NEXT, &second, 1);
	frame_add(&said, FAR_WORK, scan, sizeof(scan));
	frame_add(&said, FAR_WORK, map, sizeof(map));
	frame_add(&said, FAR_GET, get, sizeof(get));
	frame_add(&said, FAR_FILE, file, sizeof(file));
	frame_add(&said, FAR_CANCEL, &kind, 1);
	frame_add(&said, FAR_OPEN, child, sizeof(child)); /* again: the one before is closed */
	frame_add(&said, FAR_NEXT, &first, 1);
	for (size_t n = 0; n <= said.len; n++) {
		left = 0;
		CHECK_INT(agent_run(&said, n, null), -EPIPE);
		CHECK_INT(left, FAR_KINDS);
	}
	CHECK(begun > 0 && closed > 0);
	for (unsigned i = 0; i < FAR_VIEWS; i++)
		CHECK(opened[i] == NULL);
	bytes_free(&said);
	close(null);
}

/* An agent that hears one frame. */
static int said_alone(uint8_t type, const char *data, size_t len)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;
	struct bytes said = { 0 };

	bytes_add(&said, FAR_MAGIC, FAR_MAGIC_BYTES);
	frame_add(&said, type, data, len);
	rc = agent_run(&said, said.len, null);
	bytes_free(&said);
	close(null);
	return rc;
}

TEST(views_that_are_not_open)
{
	CHECK_INT(said_alone(FAR_NEXT, "\0", 1), -EPIPE); /* right: the desk has left */
	CHECK_INT(said_alone(FAR_NEXT, "\1", 1), -EPROTO);
	CHECK_INT(said_alone(FAR_NEXT, "\10", 1), -EPROTO); /* FAR_VIEWS */
	CHECK_INT(said_alone(FAR_NEXT, "", 0), -EPROTO);
	CHECK_INT(said_alone(FAR_IMAGE, "\0", 1), -EPROTO); /* there is no other image */
	CHECK_INT(said_alone(FAR_OPEN, "\0\7\0", 3), -EPROTO); /* view 0 stays what it is */
	CHECK_INT(said_alone(FAR_OPEN, "\10\7\0", 3), -EPROTO);
	CHECK_INT(said_alone(FAR_FILE, "\10\1\0\0", 4), -EPROTO);
	CHECK_INT(said_alone(FAR_FILE, "\1\1\0\0", 4), -EPIPE); /* "there is none" */
	CHECK_INT(said_alone(FAR_WORK, "\0\1\10\0", 4), -EPROTO);
	begun = 0;
	CHECK_INT(said_alone(FAR_WORK, "\0\1\1\0", 4), -EPIPE);
	CHECK_INT(begun, 0);
	CHECK_INT(said_alone(FAR_WORK, "\0\1\0\0", 4), -EPIPE);
	CHECK_INT(begun, 1);
}

TEST(work_of_no_kind)
{
	static const char none[] = { FAR_KINDS, 1, 0 };

	CHECK_INT(said_alone(FAR_WORK, none, 3), -EPROTO);
	CHECK_INT(said_alone(FAR_WORK, "", 0), -EPROTO);
	CHECK_INT(said_alone(FAR_CANCEL, "", 0), -EPROTO);
	CHECK_INT(said_alone(FAR_CANCEL, none, 1), -EPROTO);
	CHECK_INT(said_alone(FAR_CANCEL, "\2", 1), -EPIPE);
	CHECK_INT(said_alone(FAR_GET, "\0\1\0", 3), -EPROTO);
	CHECK_INT(said_alone(FAR_GET, "\0\1\0\1", 4), -EPIPE);
	CHECK_INT(said_alone(FAR_GET, "\0\1\0\377\377\177", 6), -EPROTO); /* FAR_PIECE_MAX */
}

/* ---- the desk ---- */

static void greeting_record(void)
{
	static const uint8_t client[] = { 2, 1 }, first = 0;
	struct bytes said = { 0 };
	int out = memory_of("", 0);
	off_t len;

	bytes_add(&said, FAR_MAGIC, FAR_MAGIC_BYTES);
	frame_add(&said, FAR_CLIENT, client, sizeof(client));
	frame_add(&said, FAR_NEXT, &first, 1);
	CHECK_INT(agent_run(&said, said.len, out), -EPIPE);
	len = lseek(out, 0, SEEK_END);
	CHECK(len > 100 && bytes_room(&greeting, (size_t)len));
	CHECK(pread(out, greeting.data, (size_t)len, 0) == len);
	greeting.len = (size_t)len;
	bytes_free(&said);
	close(out);
}

static struct far_desk *desk_open(int in, int *result)
{
	const struct far_peer peer = {
		.in = in, .out = open("/dev/null", O_WRONLY | O_CLOEXEC), .said = -1
	};
	char message[FAR_PEER_MESSAGE] = "";
	struct far_desk *d;

	*result = far_desk_open(&d, &peer, 1000, message);
	CHECK((*result == 0) == !message[0]);
	return d;
}

TEST(what_an_agent_says_is_cut_before_the_first_tick_ends)
{
	size_t whole = 0;

	for (size_t n = 0; n <= greeting.len; n++) {
		int rc;
		struct far_desk *d = desk_open(memory_of(greeting.data, n), &rc);

		whole += rc == 0;
		CHECK(rc == 0 || rc == -EPIPE);
		CHECK((rc == 0) == (n == greeting.len));
		far_desk_close(d);
	}
	CHECK_INT(whole, 1);
}

static void found_frames(struct bytes *b, const uint8_t *found)
{
	struct far_working s = { .number = 1, .phase = 1 };
	struct bytes data = { 0 };

	far_working_put(&data, &s);
	frame_add(b, FAR_WORKING, data.data, data.len);
	data.len = 0;
	s.state = FAR_WORK_ENDED;
	s.bytes = FOUND_BYTES;
	far_working_put(&data, &s);
	frame_add(b, FAR_WORKING, data.data, data.len);
	for (size_t at = 0; at < FOUND_BYTES; at += FAR_PIECE_MAX) {
		size_t left_over = FOUND_BYTES - at;

		data.len = 0;
		far_part_put(&data, &(struct far_part){ .number = 1, .offset = at });
		bytes_add(&data, found + at, left_over < FAR_PIECE_MAX ? left_over : FAR_PIECE_MAX);
		frame_add(b, FAR_FOUND, data.data, data.len);
	}
	bytes_free(&data);
}

/* The desk has asked when these come: they are written behind the greeting, which it has read. */
static void scan_cut(const struct bytes *frames, size_t n, const uint8_t *found)
{
	static const struct bytes request = { (uint8_t *)(uintptr_t) "\1\2", 2, 2, false };
	int in = memory_of(greeting.data, greeting.len), more = dup(in), rc;
	struct far_desk *d = desk_open(in, &rc);
	const struct far_desk_work *s;

	CHECK_INT(rc, 0);
	if (rc != 0)
		return;
	((struct far_moment *)(uintptr_t)far_desk_moment(d, 0))->agent.steers = true;
	CHECK_INT(far_desk_order(d, FAR_LEAKS, 0, &request), 0);
	CHECK(pwrite(more, frames->data, n, (off_t)greeting.len) == (ssize_t)n);
	for (unsigned i = 0; i < 100 && !far_desk_ended(d); i++)
		far_desk_listen(d, 0);
	s = far_desk_ordered(d, FAR_LEAKS);
	CHECK(far_desk_ended(d) != NULL);
	CHECK((!s->runs && s->said.state == FAR_WORK_ENDED) == (n == frames->len));
	CHECK(s->found.len <= FOUND_BYTES && memcmp(s->found.data, found, s->found.len) == 0);
	far_desk_close(d);
	close(more);
}

TEST(what_a_scan_found_is_cut)
{
	uint8_t *found = malloc(FOUND_BYTES);
	struct bytes frames = { 0 };

	for (size_t i = 0; i < FOUND_BYTES; i++)
		found[i] = (uint8_t)(i * 7);
	found_frames(&frames, found);
	for (size_t n = 0; n < 100; n++)
		scan_cut(&frames, n, found);
	for (size_t n = 100; n + 1200 < frames.len; n += 15 * FAR_STEP)
		scan_cut(&frames, n, found);
	for (size_t n = frames.len - 1200; n <= frames.len; n += 7)
		scan_cut(&frames, n, found);
	scan_cut(&frames, frames.len, found);
	bytes_free(&frames);
	free(found);
}

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	greeting_record();
	RUN(what_a_desk_says_is_cut);
	RUN(views_that_are_not_open);
	RUN(work_of_no_kind);
	RUN(what_an_agent_says_is_cut_before_the_first_tick_ends);
	RUN(what_a_scan_found_is_cut);
	bytes_free(&greeting);
	made_close(&made);
	return check_end();
}
