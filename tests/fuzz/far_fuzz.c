/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of both sides of src/far: what comes to a desk after a good greeting, and its copy
 * through the reader; or what comes to an agent of a good segment, which may act on the program.
 * The first byte says which; then follow frames, each a type, a length
 * of two bytes and the data, so that most of them are whole. What comes to a desk without having
 * been asked for is refused, so all that follows the first tick comes after the desk has asked for
 * everything that there is.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "src/far/agent.h"
#include "src/far/channel.h"
#include "src/far/desk.h"
#include "tests/fuzz/segment_changes.h"

#define INPUT_MOST 32768u /* fits a pipe */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void frame_add(struct bytes *b, uint8_t type, const void *data, size_t len)
{
	const uint8_t head[] = { type, (uint8_t)len, (uint8_t)(len >> 8), 0, 0 };

	bytes_add(b, head, sizeof(head));
	bytes_add(b, data, len);
}

static void greeting_add(struct bytes *b, uint8_t view)
{
	const struct far_hello h = { .protocol = FAR_PROTOCOL,
		.signature = HT_SIGNATURE,
		.order = 1,
		.page_bytes = 4096,
		.segment_bytes = 1u << 20,
		.sends_files = true,
		.steers = true,
		.view = view };
	struct bytes hello = { 0 };

	far_hello_put(&hello, &h);
	frame_add(b, FAR_HELLO, hello.data, hello.len);
	bytes_free(&hello);
}

static void frames_add(struct bytes *b, const uint8_t *data, size_t bytes)
{
	while (bytes >= 3) {
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;

		len = len < bytes - 3 ? len : bytes - 3;
		/* A greeting of one byte is a right one of that view: seeds know no signature. */
		if (data[0] == FAR_HELLO && len == 1)
			greeting_add(b, data[3]);
		else
			frame_add(b, data[0], data + 3, len);
		data += 3 + len;
		bytes -= 3 + len;
	}
	bytes_add(b, data, bytes);
}

/* What is written to `to` comes from `from`. */
struct source {
	int from, to;
};

static struct source source_make(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	return (struct source){ ends[0], ends[1] };
}

static void source_add(const struct source *s, const void *data, size_t len)
{
	if (write(s->to, data, len) != (ssize_t)len)
		abort();
}

/* The length of the frames up to the first tick, and with it. */
static size_t first_tick(const uint8_t *data, size_t bytes)
{
	size_t at = 0;

	while (at + 3 < bytes) {
		uint8_t type = data[at];

		at += 3 + ((size_t)data[at + 1] | (size_t)data[at + 2] << 8);
		if (type == FAR_TICK)
			break;
	}
	return at < bytes ? at : bytes;
}

/* All that a desk can ask for. */
static void all_ask(struct far_desk *d)
{
	static const struct bytes request = { (uint8_t *)(uintptr_t) "\1", 1, 1, false };
	const struct far_row *rows;
	uint64_t more;

	(void)far_desk_rows(d, &rows, &more);
	(void)far_desk_choose(d, 1, 7);
	(void)far_desk_choose(d, 2, 8);
	for (unsigned kind = 0; kind < FAR_KINDS; kind++)
		(void)far_desk_order(d, kind, 0, &request);
	(void)far_desk_copy(d, 0, 1, -1, 1u << 20);
}

static void views_read(struct far_desk *d)
{
	char message[READ_MESSAGE_MAX];
	const char *why;

	for (unsigned i = 0; i < FAR_VIEWS; i++)
		if (i == 0 || far_desk_chosen(d, i, &why) == 1) {
			(void)far_desk_image(d, i);
			read_close(read_open(far_desk_path(d, i), message));
			far_desk_opened(d, i);
		}
}

static void desk_try(const struct source *source, int out, const uint8_t *rest, size_t bytes)
{
	int in = source->from;
	const struct far_peer peer = { .in = in, .out = out, .said = -1 };
	char message[READ_MESSAGE_MAX + FAR_PEER_MESSAGE];
	struct bytes frames = { 0 };
	const struct far_row *rows;
	uint64_t more;
	struct far_desk *d;

	frames_add(&frames, rest, bytes);
	if (bytes == 0)
		close(source->to); /* else the desk waits for what does not come */
	if (far_desk_open(&d, &peer, bytes ? 0 : 1000, message) != 0) {
		if (!message[0])
			abort();
	} else {
		all_ask(d);
		if (bytes > 0)
			source_add(source, frames.data, frames.len);
		do
			views_read(d);
		while (far_desk_tick(d, 0));
		views_read(d);
		(void)far_desk_rows(d, &rows, &more);
		(void)far_desk_file(d, 0, 1, -1, 1u << 20, 0);
		far_desk_close(d);
	}
	if (bytes > 0)
		close(source->to);
	bytes_free(&frames);
}

static int steer_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	(void)ctx;
	(void)segment;
	(void)pid;
	(void)request;
	return len > FAR_REQUEST_MAX ? -EPROTO : 0;
}

static void steer_nothing(void *ctx)
{
	(void)ctx;
}

static bool steer_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	static const struct bytes some = { (uint8_t *)(uintptr_t) "found", 5, 5, false };

	(void)ctx;
	s->read_bytes = 1;
	*found = &some;
	return true;
}

static struct read_segment *served;
static bool opened[FAR_VIEWS];

static size_t others_list(void *ctx, struct far_row *rows, uint64_t *more)
{
	(void)ctx;
	for (unsigned i = 0; i < 3; i++)
		rows[i] = (struct far_row){ .id = i + 1, .pid = i + 1, .command = "a" };
	*more = 1;
	return 3;
}

static int others_open(
	void *ctx, unsigned view, uint64_t id, struct far_process *out, char *why, size_t cap)
{
	(void)ctx;
	if (view == 0 || view >= FAR_VIEWS || opened[view] || cap == 0)
		abort();
	*why = 0;
	*out = (struct far_process){ .segment = served };
	opened[view] = id % 2 == 1;
	return opened[view] ? 0 : -ESRCH;
}

static void others_close(void *ctx, unsigned view)
{
	(void)ctx;
	if (!opened[view])
		abort();
	opened[view] = false;
}

static void agent_try(int in, int out)
{
	static const struct far_others others = { NULL, others_list, others_open, others_close };
	static const struct far_worker steer = { NULL, steer_begin, steer_nothing, steer_look,
		steer_nothing };
	char message[READ_MESSAGE_MAX];
	struct far_agent a = { .others = &others, .sends_files = true };

	served = read_open(spoilt_make(NULL, 0), message);
	a.first.segment = served;
	for (unsigned i = 0; i < FAR_KINDS; i++)
		a.worker[i] = &steer;
	if (!served)
		abort();
	(void)far_agent_serve(&a, in, out);
	for (unsigned i = 0; i < FAR_VIEWS; i++)
		if (opened[i])
			abort();
	read_close(served);
	spoilt_mend();
	close(in);
	close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct bytes input = { 0 };
	bool is_desk = bytes > 0 && data[0] % 4 != 0;
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct source source;
	size_t now;

	if (bytes == 0 || bytes > INPUT_MOST || out < 0) {
		close(out);
		return 0;
	}
	bytes_add(&input, FAR_MAGIC, FAR_MAGIC_BYTES);
	if (is_desk)
		greeting_add(&input, 0);
	now = is_desk ? first_tick(data + 1, bytes - 1) : bytes - 1;
	frames_add(&input, data + 1, now);
	source = source_make();
	source_add(&source, input.data, input.len);
	if (is_desk) {
		desk_try(&source, out, data + 1 + now, bytes - 1 - now);
	} else {
		close(source.to);
		agent_try(source.from, out);
	}
	bytes_free(&input);
	return 0;
}
