/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames over two descriptors (channel.h). */
#include "src/far/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "src/util/text.h"

#define HEAD_BYTES    5u
#define READ_BYTES    65536u
#define MAGIC_WAIT_MS 10000
#define LOOK_MS	      500 /* between looks at `stop` */

static int nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

/* 0, -ETIMEDOUT, -EPIPE, or -EINTR: it is to stop. */
static int writable_await(const struct far_channel *c, int timeout_ms)
{
	struct pollfd p = { c->out, POLLOUT, 0 };
	int waited = 0;

	while (!c->stop || !*c->stop) {
		int left = timeout_ms - waited;
		int slice = timeout_ms < 0 || left > LOOK_MS ? LOOK_MS : left;
		int rc = poll(&p, 1, slice);

		if (rc > 0)
			return p.revents & (POLLERR | POLLNVAL) ? -EPIPE : 0;
		waited += rc == 0 && timeout_ms >= 0 ? slice : 0;
		if (rc == 0 && timeout_ms >= 0 && waited >= timeout_ms)
			return -ETIMEDOUT;
	}
	return -EINTR;
}

static int write_all(const struct far_channel *c, const uint8_t *data, size_t len, int timeout_ms)
{
	int rc = 0;

	while (len > 0 && rc == 0) {
		ssize_t n = write(c->out, data, len);

		if (n > 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return errno == ECONNRESET ? -EPIPE : -errno;
		rc = writable_await(c, timeout_ms);
	}
	return rc;
}

int far_channel_open(struct far_channel *c, int in, int out)
{
	int rc;

	*c = (struct far_channel){ .in = in, .out = out };
	rc = nonblocking(in);
	if (rc == 0)
		rc = nonblocking(out);
	return rc ? rc : write_all(c, (const uint8_t *)FAR_MAGIC, FAR_MAGIC_BYTES, MAGIC_WAIT_MS);
}

void far_channel_free(struct far_channel *c)
{
	bytes_free(&c->got);
}

/* Forgets what was taken. */
static void got_shift(struct far_channel *c)
{
	if (c->at == 0)
		return;
	memmove(c->got.data, c->got.data + c->at, c->got.len - c->at);
	c->got.len -= c->at;
	c->at = 0;
}

/* 1: a read may have more to give. */
static int read_some(struct far_channel *c)
{
	ssize_t n;

	got_shift(c);
	if (!bytes_room(&c->got, READ_BYTES))
		return -ENOMEM;
	n = read(c->in, c->got.data + c->got.len, READ_BYTES);
	if (n == 0)
		return -EPIPE;
	if (n < 0)
		return errno == EAGAIN ? 0 : errno == ECONNRESET || errno == EIO ? -EPIPE : -errno;
	c->got.len += (size_t)n;
	c->received += (uint64_t)n;
	return 1;
}

int far_channel_fill(struct far_channel *c, int timeout_ms)
{
	struct pollfd p = { c->in, POLLIN, 0 };
	int rc = poll(&p, 1, timeout_ms);

	if (rc <= 0)
		return rc < 0 ? -errno : 0;
	return read_some(c);
}

/* Passes over what comes before the magic. */
static int begin(struct far_channel *c)
{
	size_t have = c->got.len - c->at;
	const uint8_t *from, *magic;

	if (have == 0)
		return 0;
	from = c->got.data + c->at;
	magic = memmem(from, have, FAR_MAGIC, FAR_MAGIC_BYTES);
	if (magic) {
		c->begun = true;
		c->passed = (size_t)(magic - from);
		c->at += c->passed + FAR_MAGIC_BYTES;
		return 1;
	}
	return have > FAR_BANNER_MAX ? -EPROTO : 0;
}

int far_channel_next(struct far_channel *c, struct far_frame *f)
{
	const uint8_t *head;
	uint32_t len;
	int rc = c->begun ? 1 : begin(c);

	if (rc != 1)
		return rc;
	if (c->got.len - c->at < HEAD_BYTES)
		return 0;
	head = c->got.data + c->at;
	len = (uint32_t)head[1] | (uint32_t)head[2] << 8 | (uint32_t)head[3] << 16 |
	      (uint32_t)head[4] << 24;
	if (len > FAR_FRAME_MAX)
		return -EPROTO;
	if (c->got.len - c->at < HEAD_BYTES + len)
		return 0;
	*f = (struct far_frame){ head[0], head + HEAD_BYTES, len };
	c->at += HEAD_BYTES + len;
	return 1;
}

int far_channel_send(
	struct far_channel *c, enum far_type type, const void *data, size_t len, int timeout_ms)
{
	uint8_t head[HEAD_BYTES] = { (uint8_t)type, (uint8_t)len, (uint8_t)(len >> 8),
		(uint8_t)(len >> 16), (uint8_t)(len >> 24) };
	int rc;

	if (len > FAR_FRAME_MAX)
		return -EMSGSIZE;
	rc = write_all(c, head, sizeof(head), timeout_ms);
	return rc ? rc : write_all(c, data, len, timeout_ms);
}

void far_channel_banner(const struct far_channel *c, char *out, size_t cap)
{
	const char *text = c->got.data ? (const char *)c->got.data + c->at : "";
	size_t len = c->got.len - c->at, line = 0;

	while (line < len && text[line] != '\n' && text[line] != '\r')
		line++;
	text_clean(out, cap, text, line);
}
