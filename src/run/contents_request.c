/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of blocks between machines (contents_request.h). */
#include "src/run/contents_request.h"

#include <errno.h>
#include <string.h>

void contents_request_put(struct bytes *b, const struct contents_range *r, size_t count)
{
	bytes_number(b, count);
	for (size_t i = 0; i < count; i++) {
		bytes_number(b, r[i].addr);
		bytes_number(b, r[i].bytes);
	}
}

int contents_request_get(struct bytes_cursor *c, struct contents_range *r, size_t *count)
{
	*count = bytes_read_below(c, CONTENTS_RANGES);
	for (size_t i = 0; i < *count; i++) {
		r[i].addr = bytes_read(c);
		r[i].bytes = bytes_read_below(c, CONTENTS_RANGE_MOST);
		r[i].got = 0;
	}
	return c->bad || c->at < c->end ? -EPROTO : 0;
}

void contents_answer_put(struct bytes *b, const struct contents_range *r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bytes_number(b, r[i].got);
		bytes_add(b, r[i].data, r[i].got);
	}
}

int contents_answer_get(struct bytes_cursor *c, struct contents_range *r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t got = bytes_read_below(c, r[i].bytes);
		const uint8_t *data = bytes_read_piece(c, got);

		r[i].got = c->bad ? 0 : got;
		if (data && !c->bad)
			memcpy(r[i].data, data, got);
	}
	return c->bad || c->at < c->end ? -EPROTO : 0;
}
