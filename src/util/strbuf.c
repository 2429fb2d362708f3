/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The growable string that exporters and batch mode write into. Its owner's thread calls it. Out of
 * memory never ends the program (see `failed`).
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "src/util/strbuf.h"

#define STRBUF_FIRST_BYTES 256u /* most lines and short reports: one allocation */
#define STRBUF_SPILL_BYTES (1u << 20) /* few writes, and little memory */

const char *strbuf_text(const struct strbuf *s)
{
	return s->data ? s->data : "";
}

/* Makes sure that `more` bytes and the NUL fit. */
static bool strbuf_grow(struct strbuf *s, size_t more)
{
	size_t need, cap;
	char *data;

	if (s->failed || more > SIZE_MAX / 2 - s->len - 1) {
		s->failed = true;
		return false;
	}
	need = s->len + more + 1;
	if (need <= s->cap)
		return true;
	cap = s->cap ? s->cap : STRBUF_FIRST_BYTES;
	while (cap < need)
		cap *= 2;
	data = realloc(s->data, cap);
	if (!data) {
		s->failed = true;
		return false;
	}
	s->data = data;
	s->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *s, const char *bytes, size_t len)
{
	if (!strbuf_grow(s, len))
		return;
	if (len)
		memcpy(s->data + s->len, bytes, len);
	s->len += len;
	s->data[s->len] = '\0';
}

void strbuf_puts(struct strbuf *s, const char *text)
{
	strbuf_add(s, text, strlen(text));
}

void strbuf_putc(struct strbuf *s, char c)
{
	strbuf_add(s, &c, 1);
}

void strbuf_fill(struct strbuf *s, char c, size_t count)
{
	if (!strbuf_grow(s, count))
		return;
	memset(s->data + s->len, c, count);
	s->len += count;
	s->data[s->len] = '\0';
}

void strbuf_vprintf(struct strbuf *s, const char *fmt, va_list ap)
{
	size_t room = s->failed ? 0 : s->cap - s->len;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(room ? s->data + s->len : NULL, room, fmt, ap);
	if (n < 0) {
		s->failed = true;
	} else if (strbuf_grow(s, (size_t)n)) {
		if ((size_t)n >= room)
			vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
		s->len += (size_t)n;
	}
	va_end(again);
}

void strbuf_printf(struct strbuf *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(s, fmt, ap);
	va_end(ap);
}

int strbuf_write(const struct strbuf *s, int fd)
{
	const char *text = s->data;
	size_t left = s->len;

	if (s->failed)
		return s->error ? s->error : -ENOMEM;
	while (left > 0) {
		ssize_t put = write(fd, text, left);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		text += put;
		left -= (size_t)put;
	}
	return 0;
}

void strbuf_flow(struct strbuf *s, int fd)
{
	s->flows = true;
	s->fd = fd;
}

void strbuf_spill(struct strbuf *s)
{
	if (!s->flows || s->failed || s->len < STRBUF_SPILL_BYTES)
		return;
	s->error = strbuf_write(s, s->fd);
	strbuf_reset(s);
	s->failed = s->error != 0;
}

void strbuf_reset(struct strbuf *s)
{
	s->len = 0;
	s->failed = false;
	if (s->data)
		s->data[0] = '\0';
}

void strbuf_free(struct strbuf *s)
{
	if (!s)
		return;
	free(s->data);
	*s = (struct strbuf)STRBUF_INIT;
}
