/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes protocol buffers (https://protobuf.dev/programming-guides/encoding/) into a string buffer.
 * A nested message is written into a buffer of its own first, since its length comes before it.
 */
#ifndef SRC_EXPORT_PROTO_H
#define SRC_EXPORT_PROTO_H

#include <stdint.h>
#include "src/util/strbuf.h"

/* The number alone, for packed fields. */
void proto_varint(struct strbuf *out, uint64_t value);
void proto_uint(struct strbuf *out, unsigned field, uint64_t value);
/* Negative numbers take ten bytes, as int64 does. */
void proto_int(struct strbuf *out, unsigned field, int64_t value);
void proto_bytes(struct strbuf *out, unsigned field, const void *bytes, size_t len);
void proto_text(struct strbuf *out, unsigned field, const char *text);
/* Appends `message` as a field and empties it. */
void proto_message(struct strbuf *out, unsigned field, struct strbuf *message);

#endif
