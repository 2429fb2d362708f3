/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The wrong frees of a snapshot as numbers (state.h): how many, and of each: kind, count, bytes,
 * address, offset, size passed, and the sites that free, allocated, and freed before. Main thread.
 */
#ifndef SRC_RECORD_WRONG_ROWS_H
#define SRC_RECORD_WRONG_ROWS_H

#include "src/model/snapshot.h"
#include "src/util/bytes.h"

#define WRONG_ROWS_MAX	 4096u /* accepted from a file; the segment has fewer */
#define WRONG_ROWS_BYTES (1u << 18)

/* Replaces `out`; empty if the snapshot has none. */
void wrong_rows_put(const struct snapshot *s, struct bytes *out);
/* How many there are. They come from a file: 0 where they are none. */
size_t wrong_rows_count(const struct bytes *rows);
/* Reads at most `most` of them, without stacks and functions. Returns their number. */
size_t wrong_rows_get(const struct bytes *rows, struct snap_wrong_free *out, size_t most);

#endif
