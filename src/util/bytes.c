/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as bytes (bytes.h). Any thread, on data of its own. */
#include "src/util/bytes.h"

#include <stdlib.h>
#include <string.h>

bool bytes_room(struct bytes *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 256;
	uint8_t *data;

	if (b->failed || more > SIZE_MAX / 4 - b->len) {
		b->failed = true;
		return false;
	}
	if (b->cap - b->len >= more)
		return true;
	while (cap - b->len < more)
		cap += cap / 2;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void bytes_add(struct bytes *b, const void *data, size_t len)
{
	if (len == 0 || !bytes_room(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

void bytes_add_text(struct bytes *b, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	bytes_number(b, len);
	bytes_add(b, text, len);
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

uint64_t bytes_read_long(struct bytes_cursor *c)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (c->at == c->end)
			break;
		byte = *c->at++;
		/* Only the lowest bit of a tenth byte fits. */
		if (shift == 63 && byte > 1)
			break;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
	c->bad = true;
	c->at = c->end;
	return 0;
}

uint64_t bytes_read_below(struct bytes_cursor *c, uint64_t most)
{
	uint64_t n = bytes_read(c);

	if (n <= most)
		return n;
	c->bad = true;
	c->at = c->end;
	return 0;
}

const uint8_t *bytes_read_piece(struct bytes_cursor *c, size_t len)
{
	const uint8_t *piece = c->at;

	if (c->bad || (size_t)(c->end - c->at) < len) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += len;
	return piece;
}

const char *bytes_read_text(struct bytes_cursor *c, size_t most, size_t *len)
{
	*len = bytes_read_below(c, most);
	return (const char *)bytes_read_piece(c, *len);
}

struct bytes_cursor bytes_read_cursor(struct bytes_cursor *c)
{
	size_t len = bytes_read_below(c, (uint64_t)(c->end - c->at));
	const uint8_t *piece = bytes_read_piece(c, len);

	return piece ? (struct bytes_cursor){ piece, piece + len, false }
		     : (struct bytes_cursor){ .bad = true };
}
