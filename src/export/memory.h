/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What resident memory is, in reports. Pure; main thread. */
#ifndef SRC_EXPORT_MEMORY_H
#define SRC_EXPORT_MEMORY_H

#include "src/export/export.h"
#include "src/export/writer.h"

/* The paragraph of the text report; nothing when nobody looked. */
void memory_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The object "memory": figures, or why there are none; null when nobody looked. */
void memory_json(struct writer *w, const struct export_options *o);

#endif
