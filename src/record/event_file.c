/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks of a recording of all events (event_file.h). */
#include "src/record/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "src/record/new_file.h"

#define MAGIC_BYTES 16u
#define HEAD_BYTES  16u
#define LEVEL	    1 /* of zstd: 4 and more million events a second, at most twice level 3's size */
#define BLOCK_MOST  (64u << 20) /* of contents: a larger one is damage */

/* Before each block, little-endian. */
struct head {
	uint32_t kind; /* enum event_file_kind, and the stream above 8 bits */
	uint32_t bytes; /* compressed, after the head */
	uint32_t raw_bytes;
	uint32_t crc; /* of the three before and the compressed bytes */
};

struct event_writer {
	int fd, error;
	uint64_t bytes;
	ZSTD_CCtx *zstd;
	uint8_t *out;
	size_t room;
};

struct event_reader {
	int fd;
	bool cut;
	ZSTD_DCtx *zstd;
	uint8_t *in, *out;
	size_t in_room, out_room;
	uint64_t at, size;
};

static void number_put(uint8_t *out, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(n >> 8 * i);
}

static uint32_t number_get(const uint8_t *in)
{
	return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static void magic_make(char magic[MAGIC_BYTES])
{
	memcpy(magic, EVENT_FILE_MAGIC, MAGIC_BYTES - 1);
	magic[MAGIC_BYTES - 1] = EVENT_FILE_VERSION;
}

static uint32_t checksum(const uint8_t *head, const uint8_t *data, uint32_t bytes)
{
	return (uint32_t)crc32(crc32(0, head, 12), data, bytes);
}

static int write_all(struct event_writer *w, const void *data, size_t bytes)
{
	const char *p = data;

	while (bytes > 0) {
		ssize_t put = write(w->fd, p, bytes);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		p += put;
		bytes -= (size_t)put;
		w->bytes += (uint64_t)put;
	}
	return 0;
}

struct event_writer *event_file_create(const char *path, char *message)
{
	struct event_writer *w = calloc(1, sizeof(*w));
	char magic[MAGIC_BYTES];
	int rc = -ENOMEM;

	magic_make(magic);
	if (w) {
		w->zstd = ZSTD_createCCtx();
		w->fd = rc = w->zstd ? new_file_open(path) : rc;
		if (rc >= 0)
			rc = write_all(w, magic, sizeof(magic));
		if (rc == 0)
			return w;
	}
	new_file_failed(path, rc, message, EVENT_FILE_MESSAGE_MAX);
	event_file_close(w);
	return NULL;
}

static int out_room(struct event_writer *w, size_t room)
{
	if (w->room >= room)
		return 0;
	free(w->out);
	w->out = malloc(room);
	w->room = w->out ? room : 0;
	return w->out ? 0 : -ENOMEM;
}

static int block_put(struct event_writer *w, uint32_t kind, const struct bytes *raw)
{
	size_t bound = ZSTD_compressBound(raw->len), bytes;

	if (raw->len > BLOCK_MOST)
		return -EOVERFLOW;
	if (raw->failed || out_room(w, HEAD_BYTES + bound) != 0)
		return -ENOMEM;
	bytes = ZSTD_compressCCtx(w->zstd, w->out + HEAD_BYTES, bound, raw->data, raw->len, LEVEL);
	if (ZSTD_isError(bytes))
		return -EIO;
	number_put(w->out, kind);
	number_put(w->out + 4, (uint32_t)bytes);
	number_put(w->out + 8, (uint32_t)raw->len);
	number_put(w->out + 12, checksum(w->out, w->out + HEAD_BYTES, (uint32_t)bytes));
	return write_all(w, w->out, HEAD_BYTES + bytes);
}

int event_file_put(
	struct event_writer *w, enum event_file_kind kind, uint32_t stream, struct bytes *raw)
{
	if (w->error == 0)
		w->error = block_put(w, kind | stream << 8, raw);
	raw->len = 0;
	return w->error;
}

uint64_t event_file_bytes(const struct event_writer *w)
{
	return w->bytes;
}

int event_file_error(const struct event_writer *w)
{
	return w->error;
}

int event_file_close(struct event_writer *w)
{
	int error = 0;

	if (!w)
		return 0;
	error = w->error;
	if (w->fd >= 0 && close(w->fd) != 0 && error == 0)
		error = -errno;
	ZSTD_freeCCtx(w->zstd);
	free(w->out);
	free(w);
	return error;
}

/* ---- reading ---- */

static bool read_all(int fd, void *data, size_t bytes, uint64_t at)
{
	char *p = data;

	while (bytes > 0) {
		ssize_t got = pread(fd, p, bytes, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		at += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

bool event_file_is(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char magic[MAGIC_BYTES];
	bool is = fd >= 0 && read_all(fd, magic, sizeof(magic), 0) &&
		  memcmp(magic, EVENT_FILE_MAGIC, MAGIC_BYTES - 1) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

static const char *open_checked(struct event_reader *r, const char *path)
{
	char magic[MAGIC_BYTES];
	struct stat st;

	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st) != 0)
		return strerror(errno);
	r->zstd = ZSTD_createDCtx();
	if (!r->zstd)
		return strerror(ENOMEM);
	if (!S_ISREG(st.st_mode) || !read_all(r->fd, magic, sizeof(magic), 0) ||
		memcmp(magic, EVENT_FILE_MAGIC, MAGIC_BYTES - 1) != 0)
		return "not a recording of events";
	if (magic[MAGIC_BYTES - 1] != EVENT_FILE_VERSION)
		return "written by another version of heaptop";
	r->size = (uint64_t)st.st_size;
	r->at = MAGIC_BYTES;
	return NULL;
}

struct event_reader *event_file_open(const char *path, char *message)
{
	struct event_reader *r = calloc(1, sizeof(*r));
	const char *why = r ? open_checked(r, path) : strerror(ENOMEM);

	if (!why)
		return r;
	snprintf(message, EVENT_FILE_MESSAGE_MAX, "cannot read %s: %s", path, why);
	event_file_free(r);
	return NULL;
}

static bool room_make(uint8_t **at, size_t *room, size_t bytes)
{
	if (*room >= bytes && *at)
		return true;
	free(*at);
	*room = bytes + bytes / 2 + 64;
	*at = malloc(*room);
	if (!*at)
		*room = 0;
	return *at != NULL;
}

/* The head of the block at r->at, checked against the file. */
static bool head_read(const struct event_reader *r, uint8_t raw[HEAD_BYTES], struct head *h)
{
	if (r->size - r->at < HEAD_BYTES || !read_all(r->fd, raw, HEAD_BYTES, r->at))
		return false;
	*h = (struct head){ number_get(raw), number_get(raw + 4), number_get(raw + 8),
		number_get(raw + 12) };
	return h->bytes <= r->size - r->at - HEAD_BYTES && h->bytes <= BLOCK_MOST &&
	       h->raw_bytes <= BLOCK_MOST;
}

/* 1, 0 for a block that is not whole, or -ENOMEM. */
static int block_read(struct event_reader *r, const struct head *h, const uint8_t *raw)
{
	if (!room_make(&r->in, &r->in_room, h->bytes) ||
		!room_make(&r->out, &r->out_room, h->raw_bytes))
		return -ENOMEM;
	if (!read_all(r->fd, r->in, h->bytes, r->at + HEAD_BYTES) ||
		checksum(raw, r->in, h->bytes) != h->crc)
		return 0;
	return ZSTD_decompressDCtx(r->zstd, r->out, h->raw_bytes, r->in, h->bytes) == h->raw_bytes;
}

int event_file_next(struct event_reader *r, struct event_file_block *out)
{
	uint8_t raw[HEAD_BYTES];
	struct head h;
	int rc;

	r->cut = r->at != r->size;
	if (!r->cut || !head_read(r, raw, &h))
		return 0;
	rc = block_read(r, &h, raw);
	if (rc != 1)
		return rc;
	r->at += HEAD_BYTES + h.bytes;
	out->kind = (enum event_file_kind)(h.kind & 0xff);
	out->stream = h.kind >> 8;
	out->contents = (struct bytes_cursor){ r->out, r->out + h.raw_bytes, false };
	return 1;
}

bool event_file_is_cut(const struct event_reader *r)
{
	return r->cut;
}

uint64_t event_file_tell(const struct event_reader *r)
{
	return r->at;
}

void event_file_seek(struct event_reader *r, uint64_t at)
{
	r->at = at;
}

void event_file_free(struct event_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->in);
	free(r->out);
	free(r);
}
