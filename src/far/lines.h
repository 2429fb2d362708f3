/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changed lines of a segment as bytes: for each, the distance from the line before it, a bit for
 * each of its eight words that changed, and by how much each did. Counters move by small steps, so
 * a changed counter takes some ten bytes. Pure.
 */
#ifndef SRC_FAR_LINES_H
#define SRC_FAR_LINES_H

#include "src/util/bytes.h"

#define FAR_LINE_BYTES	 64u
#define FAR_LINE_WORDS	 8u
#define FAR_LINE_ENCODED (10u + 1u + 10u * FAR_LINE_WORDS) /* bytes, at most */

struct far_line {
	uint64_t number; /* its offset in the segment / FAR_LINE_BYTES */
	uint64_t change[FAR_LINE_WORDS]; /* new less old, modulo 2^64 */
};

/* Adds a line if `now` differs from `before`, and makes these equal. `*next`: the number after that
 * of the last line added, 0 at first. Numbers rise. */
void far_lines_put(struct bytes *b, uint64_t *next, uint64_t number,
	uint64_t before[FAR_LINE_WORDS], const uint64_t now[FAR_LINE_WORDS]);
/* The next line. 1; 0: there is none; -EPROTO. `*next` as above. */
int far_lines_get(struct bytes_cursor *c, uint64_t *next, struct far_line *out);

#endif
