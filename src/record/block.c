/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks of a recording (block.h). Any thread. */
#include "src/record/block.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PACK_LEVEL 3 /* of payloads that come once: stacks, names */

struct header {
	uint32_t sum;
	uint8_t kind, zero;
	uint16_t head_bytes;
	uint32_t stream, bytes, payload_sum;
};

_Static_assert(sizeof(struct header) == BLOCK_HEADER_BYTES, "a header has no gaps");

static uint32_t sum_of(uint32_t sum, const void *data, size_t len)
{
	return (uint32_t)crc32_z(sum, data, len);
}

static uint32_t header_sum(const struct header *h, const void *head, size_t head_bytes)
{
	uint32_t sum = sum_of(0, (const char *)h + sizeof(h->sum), sizeof(*h) - sizeof(h->sum));

	return head_bytes ? sum_of(sum, head, head_bytes) : sum;
}

void block_put(struct bytes *out, enum block_kind kind, uint32_t stream, const struct bytes *head,
	const void *payload, size_t bytes)
{
	size_t head_bytes = head ? head->len : 0;
	struct header h = { .kind = (uint8_t)kind,
		.head_bytes = htole16((uint16_t)head_bytes),
		.stream = htole32(stream),
		.bytes = htole32((uint32_t)bytes),
		.payload_sum = htole32(sum_of(0, payload, bytes)) };

	if (head_bytes > BLOCK_HEAD_MAX || bytes > BLOCK_PAYLOAD_MAX || (head && head->failed)) {
		out->failed = true;
		return;
	}
	h.sum = htole32(header_sum(&h, head ? head->data : NULL, head_bytes));
	bytes_add(out, &h, sizeof(h));
	bytes_add(out, head ? head->data : NULL, head_bytes);
	bytes_add(out, payload, bytes);
}

uint64_t block_size(const struct block *b)
{
	return (uint64_t)BLOCK_HEADER_BYTES + b->head_bytes + b->bytes;
}

/* Reads exactly `len` bytes. 0, -EBADMSG if there are fewer, -errno. */
static int read_all(int fd, uint64_t at, void *data, size_t len)
{
	while (len > 0) {
		ssize_t n = pread(fd, data, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		data = (char *)data + n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int block_read(int fd, uint64_t at, uint64_t size, struct block *b)
{
	uint8_t data[BLOCK_HEADER_BYTES + BLOCK_HEAD_MAX];
	size_t most = size - at < sizeof(data) ? size - at : sizeof(data);
	struct header h;
	int rc;

	if (at >= size)
		return -ENODATA;
	if (most < sizeof(h))
		return -EBADMSG;
	rc = read_all(fd, at, data, most);
	if (rc)
		return rc;
	memcpy(&h, data, sizeof(h));
	*b = (struct block){ .kind = h.kind,
		.stream = le32toh(h.stream),
		.at = at,
		.bytes = le32toh(h.bytes),
		.head_bytes = le16toh(h.head_bytes) };
	if (b->head_bytes > BLOCK_HEAD_MAX || b->head_bytes > most - sizeof(h) ||
		le32toh(h.sum) != header_sum(&h, data + sizeof(h), b->head_bytes) ||
		b->bytes > BLOCK_PAYLOAD_MAX || block_size(b) > size - at ||
		b->stream >= BLOCK_STREAMS_MAX)
		return -EBADMSG;
	memcpy(b->head, data + sizeof(h), b->head_bytes);
	return 0;
}

int block_payload(int fd, const struct block *b, struct bytes *out)
{
	struct header h;
	int rc = read_all(fd, b->at, &h, sizeof(h));

	out->len = 0;
	if (rc)
		return rc;
	if (!bytes_room(out, b->bytes))
		return -ENOMEM;
	rc = read_all(fd, b->at + sizeof(h) + b->head_bytes, out->data, b->bytes);
	if (rc)
		return rc;
	if (le32toh(h.bytes) != b->bytes ||
		le32toh(h.payload_sum) != sum_of(0, out->data, b->bytes))
		return -EBADMSG;
	out->len = b->bytes;
	return 0;
}

int block_pack(struct bytes *out, const struct bytes *raw)
{
	size_t bound = ZSTD_compressBound(raw->len), len;

	if (raw->failed)
		return -ENOMEM;
	bytes_number(out, raw->len);
	if (!bytes_room(out, bound))
		return -ENOMEM;
	len = ZSTD_compress(out->data + out->len, bound, raw->data, raw->len, PACK_LEVEL);
	if (ZSTD_isError(len))
		return -ENOMEM;
	out->len += len;
	return 0;
}

int block_unpack(const struct bytes *packed, struct bytes *raw, uint64_t *most)
{
	struct bytes_cursor c = bytes_begin(packed);
	uint64_t bytes = bytes_read_below(&c, BLOCK_PAYLOAD_MAX);
	size_t left = (size_t)(c.end - c.at), len;

	raw->len = 0;
	if (c.bad || bytes > *most)
		return -EBADMSG;
	*most -= bytes;
	if (!bytes_room(raw, bytes))
		return -ENOMEM;
	len = ZSTD_decompress(raw->data, bytes, c.at, left);
	if (ZSTD_isError(len) || len != bytes)
		return -EBADMSG;
	raw->len = len;
	return 0;
}
