/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wrong frees in the JSON report; in the text report: text.h. Pure; main thread. */
#ifndef SRC_EXPORT_WRONG_FREES_H
#define SRC_EXPORT_WRONG_FREES_H

#include "src/export/export.h"
#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* The member "wrong_frees" of the report. */
void wrong_frees_json(struct writer *w, const struct snapshot *s);

/* The stacks of one row: of the free, of the free before it, and of the allocation. */
void wrong_frees_text_stacks(
	struct strbuf *out, const struct snap_wrong_free *f, const struct export_options *o);

#endif
