/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account of resident memory in reports. Pure; main thread. */
#ifndef SRC_EXPORT_MEMORY_H
#define SRC_EXPORT_MEMORY_H

#include "src/export/export.h"
#include "src/export/writer.h"

/* The paragraph of the text report; nothing if it was not read. */
void memory_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The object "memory": figures, or why there are none; null if it was not read. */
void memory_json(struct writer *w, const struct snapshot *s, const struct export_options *o);

#endif
