/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output that is compressed according to its file's name (packed_file.h). */
#include "src/run/packed_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define ROOM	   65536u
#define ZSTD_LEVEL 3

struct packed_file {
	int fd;
	ZSTD_CCtx *zstd;
	z_stream zlib;
	bool gzip;
	unsigned char out[ROOM];
};

static bool name_ends(const char *name, const char *with)
{
	size_t len = name ? strlen(name) : 0, end = strlen(with);

	return len >= end && strcmp(name + len - end, with) == 0;
}

static int write_all(int fd, const void *data, size_t bytes)
{
	const char *p = data;

	while (bytes > 0) {
		ssize_t put = write(fd, p, bytes);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		p += put;
		bytes -= (size_t)put;
	}
	return 0;
}

struct packed_file *packed_file_open(int fd, const char *name)
{
	struct packed_file *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->fd = fd;
	p->gzip = name_ends(name, ".gz");
	if (name_ends(name, ".zst")) {
		p->zstd = ZSTD_createCCtx();
		if (p->zstd)
			ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	}
	if ((p->gzip && deflateInit2(&p->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
				Z_DEFAULT_STRATEGY) != Z_OK) ||
		(name_ends(name, ".zst") && !p->zstd)) {
		free(p);
		return NULL;
	}
	return p;
}

static int zstd_put(struct packed_file *p, const void *data, size_t bytes, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { data, bytes, 0 };
	size_t left;
	int rc;

	do {
		ZSTD_outBuffer out = { p->out, ROOM, 0 };

		left = ZSTD_compressStream2(p->zstd, &out, &in, end);
		rc = ZSTD_isError(left) ? -EIO : write_all(p->fd, p->out, out.pos);
	} while (rc == 0 && (end == ZSTD_e_end ? left > 0 : in.pos < in.size));
	return rc;
}

static int gzip_put_piece(struct packed_file *p, const void *data, size_t bytes, int flush)
{
	int rc;

	p->zlib.next_in = (unsigned char *)(uintptr_t)data;
	p->zlib.avail_in = (unsigned)bytes;
	do {
		p->zlib.next_out = p->out;
		p->zlib.avail_out = ROOM;
		if (deflate(&p->zlib, flush) == Z_STREAM_ERROR)
			return -EIO;
		rc = write_all(p->fd, p->out, ROOM - p->zlib.avail_out);
	} while (rc == 0 && p->zlib.avail_out == 0);
	return rc;
}

int packed_file_put(struct packed_file *p, const void *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (p->zstd)
		return zstd_put(p, data, bytes, ZSTD_e_continue);
	if (p->gzip)
		return gzip_put_piece(p, data, bytes, Z_NO_FLUSH);
	return write_all(p->fd, data, bytes);
}

int packed_file_close(struct packed_file *p)
{
	int rc = 0;

	if (!p)
		return 0;
	if (p->zstd)
		rc = zstd_put(p, NULL, 0, ZSTD_e_end);
	else if (p->gzip)
		rc = gzip_put_piece(p, NULL, 0, Z_FINISH);
	ZSTD_freeCCtx(p->zstd);
	if (p->gzip)
		deflateEnd(&p->zlib);
	free(p);
	return rc;
}
