/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks of a recording. The file is RECORDING_MAGIC, a newline, "format 1, heaptop VERSION", a
 * newline, and then blocks, one after the other. Numbers of fixed width are little-endian:
 *
 *	u32 CRC-32 of the header from here on, head included
 *	u8  kind, u8 0, u16 length of the head
 *	u32 stream: the process image that it belongs to
 *	u32 length of the payload, u32 CRC-32 of it
 *	the head (what can be read without the payload), the payload
 *
 * A block that is cut off or has a wrong sum ends the file. Unknown kinds are skipped. Any thread.
 */
#ifndef SRC_RECORD_BLOCK_H
#define SRC_RECORD_BLOCK_H

#include "src/util/bytes.h"

#define BLOCK_HEADER_BYTES 20u
#define BLOCK_HEAD_MAX	   256u
#define BLOCK_PAYLOAD_MAX  ((size_t)1 << 28)
#define BLOCK_STREAMS_MAX  (1u << 16)
#define BLOCK_INDEX_MARK   "HTINDEX\n" /* after the offset of the index, the end of a file */

/* What a block is. The numbers are the file's. */
enum block_kind {
	BLOCK_STREAM = 1, /* a process image: who it is */
	BLOCK_STACKS, /* new call stacks (stack_write.h) */
	BLOCK_NAMES, /* names of their frames */
	BLOCK_KEY, /* the first tick of a group: its point (tick_block.h), and a zstd frame's start
		    */
	BLOCK_TICK, /* a further one: the frame goes on */
	BLOCK_MARK, /* a mark, or a new name of one */
	BLOCK_LEAKS, /* a leak scan */
	BLOCK_END, /* the image is gone */
	BLOCK_INDEX, /* the headers of all blocks; the last block */
	BLOCK_LEAK_DETAILS, /* what the leak scan before it found beyond sums and call sites */
	/* 32 and above: events. */
};

struct block {
	uint8_t kind;
	uint32_t stream;
	uint64_t at; /* of its header, in the file */
	uint32_t bytes; /* of the payload */
	uint16_t head_bytes;
	uint8_t head[BLOCK_HEAD_MAX];
};

/* Appends a block. `head` may be NULL. */
void block_put(struct bytes *out, enum block_kind kind, uint32_t stream, const struct bytes *head,
	const void *payload, size_t bytes);
/* Bytes of the whole block. */
uint64_t block_size(const struct block *b);
/* Reads the header at `at` of a file of `size` bytes. 0; -ENODATA: the end; -EBADMSG: what is there
 * is no whole block; -errno. */
int block_read(int fd, uint64_t at, uint64_t size, struct block *b);
/* Reads the payload and checks its sum. 0, -EBADMSG, -ENOMEM, -errno. */
int block_payload(int fd, const struct block *b, struct bytes *out);

/* A payload packed with zstd, its length before it. 0 or -ENOMEM. */
int block_pack(struct bytes *out, const struct bytes *raw);
/* Subtracts the length from `*most`, the bytes that may still be unpacked: zstd expands some bytes
 * 30,000-fold. -EBADMSG: it is damaged, or longer. */
int block_unpack(const struct bytes *packed, struct bytes *raw, uint64_t *most);

#endif
