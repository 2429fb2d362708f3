/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Protocol buffers (proto.h). */
#include "src/export/proto.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void proto_varint(struct strbuf *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	strbuf_add(out, bytes, n);
}

static void tag(struct strbuf *out, unsigned field, enum wire wire)
{
	proto_varint(out, (uint64_t)field << 3 | wire);
}

void proto_uint(struct strbuf *out, unsigned field, uint64_t value)
{
	tag(out, field, WIRE_VARINT);
	proto_varint(out, value);
}

void proto_int(struct strbuf *out, unsigned field, int64_t value)
{
	proto_uint(out, field, (uint64_t)value);
}

void proto_bytes(struct strbuf *out, unsigned field, const void *bytes, size_t len)
{
	tag(out, field, WIRE_BYTES);
	proto_varint(out, len);
	strbuf_add(out, bytes, len);
}

void proto_text(struct strbuf *out, unsigned field, const char *text)
{
	proto_bytes(out, field, text, strlen(text));
}

void proto_message(struct strbuf *out, unsigned field, struct strbuf *message)
{
	proto_bytes(out, field, strbuf_text(message), message->len);
	out->failed |= message->failed;
	strbuf_reset(message);
}
