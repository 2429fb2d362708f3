/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changed lines as bytes (lines.h). */
#include "src/far/lines.h"

#include <errno.h>
#include <string.h>

#define LINES_MOST (UINT64_C(1) << 48) /* of any file */

void far_lines_put(struct bytes *b, uint64_t *next, uint64_t number,
	uint64_t before[FAR_LINE_WORDS], const uint64_t now[FAR_LINE_WORDS])
{
	uint8_t mask = 0;

	for (unsigned i = 0; i < FAR_LINE_WORDS; i++)
		mask |= (uint8_t)((now[i] != before[i]) << i);
	if (mask == 0)
		return;
	bytes_number(b, number - *next);
	*next = number + 1;
	bytes_add(b, &mask, 1);
	for (unsigned i = 0; i < FAR_LINE_WORDS; i++)
		if (mask >> i & 1) {
			bytes_change(b, now[i] - before[i]);
			before[i] = now[i];
		}
}

int far_lines_get(struct bytes_cursor *c, uint64_t *next, struct far_line *out)
{
	const uint8_t *mask;
	uint64_t step;

	if (c->at == c->end)
		return c->bad ? -EPROTO : 0;
	step = bytes_read_below(c, LINES_MOST);
	mask = bytes_read_piece(c, 1);
	if (!mask || *mask == 0 || *next + step >= LINES_MOST)
		return -EPROTO;
	*out = (struct far_line){ .number = *next + step };
	*next = out->number + 1;
	for (unsigned i = 0; i < FAR_LINE_WORDS; i++)
		if (*mask >> i & 1)
			out->change[i] = bytes_read_change(c);
	return c->bad ? -EPROTO : 1;
}
