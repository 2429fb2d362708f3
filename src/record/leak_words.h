/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both payloads of a leak scan consist of: sums, words and arrays. Main thread. */
#ifndef SRC_RECORD_LEAK_WORDS_H
#define SRC_RECORD_LEAK_WORDS_H

#include "src/model/snapshot.h"
#include "src/record/arena.h"
#include "src/util/bytes.h"

void leak_sum_put(struct bytes *b, struct snap_leak_sum sum);
struct snap_leak_sum leak_sum_read(struct bytes_cursor *c);
/* A text, or NULL, which differs from "". A text of more than LEAK_WORD_MAX bytes is cut. */
#define LEAK_WORD_MAX 1024u
void leak_word_put(struct bytes *b, const char *text);
const char *leak_word_read(struct bytes_cursor *c, struct arena *arena);
/* An array whose count precedes it, of elements that take at least `least` bytes each: a count
 * alone takes no memory. Zeroed; there is room for one more. */
void *leak_array_read(
	struct bytes_cursor *c, struct arena *arena, size_t each, size_t least, size_t *n);

#endif
