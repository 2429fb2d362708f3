/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip (gzip.h), with zlib. No time is written, so that the same text gives the same file. */
#include "src/export/gzip.h"

#include <stdint.h>
#include <zlib.h>

#define WINDOW_GZIP (15 + 16) /* zlib's way to ask for a gzip header */
#define PIECE	    65536u
#define INPUT_MOST  (1u << 30) /* zlib counts input in unsigned ints */

static bool pieces_put(struct strbuf *out, z_stream *z, const struct strbuf *text)
{
	static unsigned char piece[PIECE];
	size_t left = text->len;
	int rc = Z_OK;

	z->next_in = (unsigned char *)(uintptr_t)strbuf_text(text);
	while (rc == Z_OK) {
		if (z->avail_in == 0) {
			z->avail_in = left < INPUT_MOST ? (unsigned)left : INPUT_MOST;
			left -= z->avail_in;
		}
		z->next_out = piece;
		z->avail_out = PIECE;
		rc = deflate(z, left ? Z_NO_FLUSH : Z_FINISH);
		strbuf_add(out, (const char *)piece, PIECE - z->avail_out);
	}
	return rc == Z_STREAM_END;
}

void gzip_put(struct strbuf *out, const struct strbuf *text)
{
	z_stream z = { 0 };

	if (text->failed ||
		deflateInit2(&z, 6, Z_DEFLATED, WINDOW_GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		out->failed = true;
		return;
	}
	if (!pieces_put(out, &z, text))
		out->failed = true;
	deflateEnd(&z);
}
