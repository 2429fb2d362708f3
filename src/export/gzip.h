/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compresses a text as gzip does. */
#ifndef SRC_EXPORT_GZIP_H
#define SRC_EXPORT_GZIP_H

#include "src/util/strbuf.h"

/* Appends `text`, compressed. Without memory, or if `text` is incomplete, `out` fails. */
void gzip_put(struct strbuf *out, const struct strbuf *text);

#endif
