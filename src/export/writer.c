/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON writer (writer.h). One thread; independent of the locale, because a decimal comma would
 * break every reader; strings are not trusted.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "src/export/writer.h"
#include "src/util/text.h"

#define WRITER_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The innermost container. Containers beyond the limit share a slot: the text is then wrong, and
 * marked as failed. */
static unsigned writer_top(const struct writer *w)
{
	return (w->depth < WRITER_DEPTH_MAX ? w->depth : WRITER_DEPTH_MAX) - 1;
}

static void writer_newline(struct writer *w)
{
	strbuf_putc(w->out, '\n');
	strbuf_fill(w->out, ' ', 2 * (size_t)w->depth);
}

/* Bytes before the next that is not printable ASCII, or needs an escape. */
static size_t writer_plain(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

/* Writes one character, escaped if it must be. Returns its bytes in `text`. */
static size_t writer_character(struct writer *w, const char *text, size_t len)
{
	uint32_t code;
	size_t n = text_decode(text, len, &code);

	if (code == 0xfffd && n == 1)
		strbuf_puts(w->out, WRITER_REPLACEMENT);
	else if (code == '"' || code == '\\')
		strbuf_printf(w->out, "\\%c", (char)code);
	else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		strbuf_printf(w->out, "\\u%04x", (unsigned)code);
	else
		strbuf_add(w->out, text, n);
	return n;
}

/* Writes `text` in quotes, with the escapes of RFC 8259 section 7, also for DEL and C1. */
static void writer_quote(struct writer *w, const char *text)
{
	size_t len = strlen(text), n;

	strbuf_putc(w->out, '"');
	for (size_t at = 0; at < len; at += n) {
		n = writer_plain(text + at, len - at);
		if (n > 0)
			strbuf_add(w->out, text + at, n);
		else
			n = writer_character(w, text + at, len - at);
	}
	strbuf_putc(w->out, '"');
}

/* Writes what precedes a value: the comma after the last one, and the key. */
static void writer_lead(struct writer *w, const char *key)
{
	if (w->depth) {
		unsigned top = writer_top(w);

		if (w->filled[top])
			strbuf_putc(w->out, ',');
		if (w->lines[top])
			writer_newline(w);
		else
			strbuf_puts(w->out, w->filled[top] || w->close[top] == '}' ? " " : "");
		w->filled[top] = true;
	}
	if (key) {
		writer_quote(w, key);
		strbuf_puts(w->out, ": ");
	}
}

static void writer_open(struct writer *w, const char *key, char open, char close)
{
	unsigned top;

	writer_lead(w, key);
	strbuf_putc(w->out, open);
	w->depth++;
	if (w->depth > WRITER_DEPTH_MAX)
		w->out->failed = true;
	top = writer_top(w);
	w->close[top] = close;
	w->filled[top] = w->lines[top] = false;
}

void writer_object(struct writer *w, const char *key)
{
	writer_open(w, key, '{', '}');
}

void writer_array(struct writer *w, const char *key)
{
	writer_open(w, key, '[', ']');
}

void writer_lines(struct writer *w)
{
	w->lines[writer_top(w)] = true;
}

void writer_end(struct writer *w)
{
	unsigned top = writer_top(w);

	w->depth--;
	if (w->filled[top] && w->lines[top])
		writer_newline(w);
	else if (w->filled[top] && w->close[top] == '}')
		strbuf_putc(w->out, ' ');
	strbuf_putc(w->out, w->close[top]);
}

void writer_int(struct writer *w, const char *key, int64_t value)
{
	writer_lead(w, key);
	strbuf_printf(w->out, "%" PRId64, value);
}

/* printf would take most of the time of a long report. */
static void writer_digits(struct writer *w, uint64_t value, unsigned base)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	strbuf_add(w->out, at, (size_t)(digits + sizeof(digits) - at));
}

void writer_uint(struct writer *w, const char *key, uint64_t value)
{
	writer_lead(w, key);
	writer_digits(w, value, 10);
}

void writer_double(struct writer *w, const char *key, double value)
{
	double size = isfinite(value) ? fabs(value) : 0;
	uint64_t thousandths = size < 9e15 ? (uint64_t)(size * 1000 + 0.5) : 0;

	writer_lead(w, key);
	if (size >= 9e15) /* a whole number at this size: no decimals, so no decimal sign */
		strbuf_printf(w->out, "%.0f", value);
	else
		strbuf_printf(w->out, "%s%" PRIu64 ".%03u", value < 0 && thousandths ? "-" : "",
			thousandths / 1000, (unsigned)(thousandths % 1000));
}

void writer_hex(struct writer *w, const char *key, uint64_t value)
{
	writer_lead(w, key);
	strbuf_puts(w->out, "\"0x");
	writer_digits(w, value, 16);
	strbuf_putc(w->out, '"');
}

void writer_bool(struct writer *w, const char *key, bool value)
{
	writer_lead(w, key);
	strbuf_puts(w->out, value ? "true" : "false");
}

void writer_null(struct writer *w, const char *key)
{
	writer_lead(w, key);
	strbuf_puts(w->out, "null");
}

void writer_string(struct writer *w, const char *key, const char *text)
{
	if (!text) {
		writer_null(w, key);
		return;
	}
	writer_lead(w, key);
	writer_quote(w, text);
}
