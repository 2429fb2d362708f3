/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of both sides of src/far: what comes to a desk after a good greeting, and its copy
 * through the reader; or what comes to an agent of a good segment, which may act on the program.
 * The first byte says which; then follow frames, each a type, a length
 * of two bytes and the data, so that most of them are whole.
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

static void greeting_add(struct bytes *b)
{
	const struct far_hello h = { .protocol = FAR_PROTOCOL,
		.signature = HT_SIGNATURE,
		.order = 1,
		.page_bytes = 4096,
		.segment_bytes = 1u << 20,
		.sends_files = true,
		.steers = true };
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
		frame_add(b, data[0], data + 3, len);
		data += 3 + len;
		bytes -= 3 + len;
	}
	bytes_add(b, data, bytes);
}

/* A descriptor that gives these bytes, and then ends. */
static int source_of(const struct bytes *b)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	if (write(ends[1], b->data, b->len) != (ssize_t)b->len)
		abort();
	close(ends[1]);
	return ends[0];
}

/* What comes without having been asked for is refused, so a scan is asked for first. */
static void scan_try(struct far_desk *d)
{
	static const struct bytes request = { (uint8_t *)(uintptr_t) "\1", 1, 1, false };

	if (far_desk_scan(d, &request) == 0)
		far_desk_listen(d, 0);
}

static void desk_try(int in, int out)
{
	const struct far_peer peer = { .in = in, .out = out, .said = -1 };
	char message[READ_MESSAGE_MAX + FAR_PEER_MESSAGE];
	struct read_segment *copy;
	struct far_desk *d;

	if (far_desk_open(&d, &peer, 1000, message) != 0) {
		if (!message[0])
			abort();
		return;
	}
	copy = read_open(far_desk_path(d), message);
	read_close(copy);
	scan_try(d);
	while (far_desk_tick(d, 0))
		if (far_desk_image(d))
			read_close(read_open(far_desk_path(d), message));
	(void)far_desk_file(d, 1, -1, 1u << 20, 0);
	far_desk_close(d);
}

static int steer_begin(void *ctx, const uint8_t *request, size_t len)
{
	(void)ctx;
	(void)request;
	return len > FAR_REQUEST_MAX ? -EPROTO : 0;
}

static void steer_nothing(void *ctx)
{
	(void)ctx;
}

static bool steer_look(void *ctx, struct far_scanning *s, const struct bytes **found)
{
	static const struct bytes some = { (uint8_t *)(uintptr_t) "found", 5, 5, false };

	(void)ctx;
	s->read_bytes = 1;
	*found = &some;
	return true;
}

static void agent_try(int in, int out)
{
	static const struct far_steer steer = { NULL, steer_begin, steer_nothing, steer_look,
		steer_nothing };
	char message[READ_MESSAGE_MAX];
	struct far_agent a = { .segment = read_open(spoilt_make(NULL, 0), message),
		.sends_files = true,
		.steer = &steer };

	if (!a.segment)
		abort();
	(void)far_agent_serve(&a, in, out);
	read_close(a.segment);
	spoilt_mend();
	close(in);
	close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct bytes input = { 0 };
	bool is_desk = bytes > 0 && data[0] % 4 != 0;
	int in, out = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (bytes == 0 || bytes > INPUT_MOST || out < 0) {
		close(out);
		return 0;
	}
	bytes_add(&input, FAR_MAGIC, FAR_MAGIC_BYTES);
	if (is_desk)
		greeting_add(&input);
	frames_add(&input, data + 1, bytes - 1);
	in = source_of(&input);
	if (is_desk)
		desk_try(in, out);
	else
		agent_try(in, out);
	bytes_free(&input);
	return 0;
}
