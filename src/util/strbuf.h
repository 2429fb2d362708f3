/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable byte string, always NUL-terminated. Any thread, one owner. Allocation failure is
 * remembered (`failed`) and later appends do nothing, so that a writer checks once, at the end.
 */
#ifndef SRC_UTIL_STRBUF_H
#define SRC_UTIL_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *data; /* owned; NULL before the first append */
	size_t len; /* bytes, without the NUL */
	size_t cap;
	bool failed; /* an allocation or a write failed: the text is incomplete */
	bool flows; /* to `fd`, see strbuf_flow */
	int fd;
	int error; /* of the write: -errno */
};

#define STRBUF_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

/* The text; "" if nothing was appended. Valid until the next append. */
const char *strbuf_text(const struct strbuf *s);
void strbuf_add(struct strbuf *s, const char *bytes, size_t len);
void strbuf_puts(struct strbuf *s, const char *text);
void strbuf_putc(struct strbuf *s, char c);
void strbuf_printf(struct strbuf *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* `count` times the byte `c`. */
void strbuf_fill(struct strbuf *s, char c, size_t count);
/* Writes the whole text, or what is left of it. 0, -ENOMEM if it is incomplete, or -errno. */
int strbuf_write(const struct strbuf *s, int fd);
/* Lets strbuf_spill write to `fd` what there is so far, so that a long text needs little memory. */
void strbuf_flow(struct strbuf *s, int fd);
/* Where the writer does not look back: writes and removes the text if it is long, and may flow. */
void strbuf_spill(struct strbuf *s);
/* Empties it but keeps the memory. */
void strbuf_reset(struct strbuf *s);
void strbuf_free(struct strbuf *s);

#endif
