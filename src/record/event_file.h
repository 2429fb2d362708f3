/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of a recording of all events, as a sequence of blocks: each is compressed by itself and
 * has its length and checksum before it, so a file that was cut off anywhere can be read up to its
 * last complete block. event_write.h describes their contents. One thread.
 */
#ifndef SRC_RECORD_EVENT_FILE_H
#define SRC_RECORD_EVENT_FILE_H

#include "src/util/bytes.h"

#define EVENT_FILE_MAGIC       "heaptop events\n" /* 15 bytes, then the version */
#define EVENT_FILE_VERSION     2
#define EVENT_FILE_MESSAGE_MAX 256

#define EVENT_FILE_STREAMS_MAX (1u << 24)

/* Bytes of contents after which one begins another block: readers refuse much larger ones. */
#define EVENT_FILE_BLOCK (256u << 10)

/* Blocks belong to a stream: one process image, numbered from 0. EVENT_FILE_NAMES is for all. */
enum event_file_kind {
	EVENT_FILE_PROCESS = 1,
	EVENT_FILE_SITES,
	EVENT_FILE_EVENTS,
	EVENT_FILE_NAMES,
	EVENT_FILE_END
};

struct event_writer;

/* Creates `path` as new_file.h says. NULL and one line in `message`
 * (EVENT_FILE_MESSAGE_MAX). */
struct event_writer *event_file_create(const char *path, char *message);
/* Compresses and writes a block, and empties `raw`. 0 or -errno; after a failure nothing more is
 * written, and each call returns it. -EOVERFLOW: readers would refuse so large a block. */
int event_file_put(
	struct event_writer *w, enum event_file_kind kind, uint32_t stream, struct bytes *raw);
uint64_t event_file_bytes(const struct event_writer *w);
/* What event_file_put failed with first: 0 or -errno. */
int event_file_error(const struct event_writer *w);
/* 0 or -errno of the first failure. */
int event_file_close(struct event_writer *w);

struct event_reader;

/* Whether a file begins as such a recording. */
bool event_file_is(const char *path);
/* NULL and one line in `message`. */
struct event_reader *event_file_open(const char *path, char *message);
/* The next block, valid until the next call. 1; 0 at the end, or where the file is cut off or
 * damaged (event_file_is_cut); -errno. */
struct event_file_block {
	enum event_file_kind kind;
	uint32_t stream;
	struct bytes_cursor contents;
};
int event_file_next(struct event_reader *r, struct event_file_block *out);
/* Whether something follows the last complete block. Valid at the end. */
bool event_file_is_cut(const struct event_reader *r);
/* Where the next block is, and to continue with another. */
uint64_t event_file_tell(const struct event_reader *r);
void event_file_seek(struct event_reader *r, uint64_t at);
void event_file_free(struct event_reader *r);

#endif
