/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers as bytes: a buffer that grows, and a cursor that reads one and never passes its end. Both
 * remember a failure, so that a caller checks once, at the end. Numbers are LEB128 varints, signed
 * ones zigzag. Any thread, on data of its own.
 */
#ifndef SRC_UTIL_BYTES_H
#define SRC_UTIL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_NUMBER_MAX 10u /* bytes of the longest number */

/* All zeros: empty. */
struct bytes {
	uint8_t *data; /* owned */
	size_t len, cap;
	bool failed; /* an allocation failed: the contents are incomplete */
};

struct bytes_cursor {
	const uint8_t *at, *end;
	bool bad; /* something passed the end, or was no number: all later reads give 0 */
};

/* Makes room for `more` bytes; false: no memory. */
bool bytes_room(struct bytes *b, size_t more);
void bytes_add(struct bytes *b, const void *data, size_t len);
/* Its length, then the text. NULL is written as "". */
void bytes_add_text(struct bytes *b, const char *text);
void bytes_free(struct bytes *b);

static inline void bytes_number(struct bytes *b, uint64_t n)
{
	if (b->cap - b->len < BYTES_NUMBER_MAX && !bytes_room(b, BYTES_NUMBER_MAX))
		return;
	while (n >= 0x80) {
		b->data[b->len++] = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	b->data[b->len++] = (uint8_t)n;
}

/* A difference, modulo 2^64: small ones of either sign take few bytes. */
static inline void bytes_change(struct bytes *b, uint64_t change)
{
	bytes_number(b, change << 1 ^ (0 - (change >> 63)));
}

uint64_t bytes_read_long(struct bytes_cursor *c);

static inline uint64_t bytes_read(struct bytes_cursor *c)
{
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return bytes_read_long(c);
}

static inline uint64_t bytes_read_change(struct bytes_cursor *c)
{
	uint64_t n = bytes_read(c);

	return n >> 1 ^ (0 - (n & 1));
}

/* All of a buffer. */
static inline struct bytes_cursor bytes_begin(const struct bytes *b)
{
	/* Nothing may be added even to a NULL. */
	return (struct bytes_cursor){ b->data, b->len ? b->data + b->len : b->data, false };
}

/* A number of at most `most`; a larger one is bad. */
uint64_t bytes_read_below(struct bytes_cursor *c, uint64_t most);
/* The next `len` bytes, or NULL. */
const uint8_t *bytes_read_piece(struct bytes_cursor *c, size_t len);
/* A text of at most `most` bytes, not terminated; *len gets its length. NULL: bad. */
const char *bytes_read_text(struct bytes_cursor *c, size_t most, size_t *len);
/* The next piece with its length before it, as a cursor of its own. */
struct bytes_cursor bytes_read_cursor(struct bytes_cursor *c);

#endif
