/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory mapped from the kernel, and pools, in reports. Pure: writes into a string buffer. */
#ifndef SRC_EXPORT_MAPPED_H
#define SRC_EXPORT_MAPPED_H

#include "src/export/export.h"
#include "src/export/writer.h"

/* A line of totals for each, and what is missing in them; none where there is nothing. */
void mapped_text(struct strbuf *out, const struct snapshot *s);
/* The sites that have mapped most, and those with most in pools. */
void mapped_text_sites(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The fields of `totals`; null where they are not known. */
void mapped_json_totals(struct writer *w, const struct snap_totals *t);
/* A snapshot whose `sites` are those of `mapped`, for code that sorts or lists sites: a plain copy,
 * valid as long as `s`. The caller frees it. NULL: no memory. */
struct snapshot *mapped_as_sites(const struct snapshot *s);

#endif
