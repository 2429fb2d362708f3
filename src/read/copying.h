/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A segment as bytes, for a copy of it elsewhere: without the live table, the rings and what only
 * the library reads. Main thread.
 */
#ifndef SRC_READ_COPYING_H
#define SRC_READ_COPYING_H

#include "src/read/read.h"

/* The parts of a segment that a copy has, in the order to read them: what a site or a counter names
 * comes after it, so that it is there. The header is not among them. */
#define READ_PARTS_MOST 32u
struct read_part {
	uint64_t offset, bytes; /* in the file; multiples of 64 */
};
unsigned read_parts(const struct read_segment *s, struct read_part out[READ_PARTS_MOST]);
/* Size of the file, as the header says. */
uint64_t read_file_bytes(const struct read_segment *s);
/*
 * The next piece of [*from, end) that may hold anything but zeros. 1; 0: none; or -errno. Moves
 * *from to its start, *to is its end.
 */
int read_data_next(const struct read_segment *s, uint64_t *from, uint64_t end, uint64_t *to);
/* `bytes` at `offset` of the file. 0 or -EIO. */
int read_bytes(const struct read_segment *s, uint64_t offset, void *out, size_t bytes);
/*
 * The header for a copy whose parts are read between the two calls: the counts of the first, but of
 * what others name the counts of the second; no live table. 0 or -EIO.
 */
int read_copy_header(const struct read_segment *s, struct ht_header *out);
int read_copy_header_finish(const struct read_segment *s, struct ht_header *out);

#endif
