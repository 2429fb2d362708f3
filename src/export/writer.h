/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes JSON (RFC 8259) into a string buffer: commas, quotes and indentation are right by
 * construction. Used by one thread. `key` is NULL inside arrays. Members follow each other on one
 * line, except in a container that writer_lines marks.
 */
#ifndef SRC_EXPORT_WRITER_H
#define SRC_EXPORT_WRITER_H

#include <stdint.h>
#include "src/util/strbuf.h"

#define WRITER_DEPTH_MAX 1024 /* about 500 generations of children; more marks `out` as failed */

struct writer {
	struct strbuf *out;
	unsigned depth; /* open objects and arrays */
	char close[WRITER_DEPTH_MAX]; /* '}' or ']' of each */
	bool filled[WRITER_DEPTH_MAX]; /* it is not empty */
	bool lines[WRITER_DEPTH_MAX]; /* each member on a line of its own */
};

void writer_object(struct writer *w, const char *key);
void writer_array(struct writer *w, const char *key);
/* Call it right after one of these: its members go on separate lines. */
void writer_lines(struct writer *w);
/* Ends the innermost object or array. */
void writer_end(struct writer *w);
void writer_int(struct writer *w, const char *key, int64_t value);
void writer_uint(struct writer *w, const char *key, uint64_t value);
/* Three decimals; a value that is not finite becomes 0. */
void writer_double(struct writer *w, const char *key, double value);
/* "0x7f12". */
void writer_hex(struct writer *w, const char *key, uint64_t value);
void writer_bool(struct writer *w, const char *key, bool value);
void writer_null(struct writer *w, const char *key);
/* NULL is null. Bytes that are not UTF-8 become U+FFFD. */
void writer_string(struct writer *w, const char *key, const char *text);

#endif
