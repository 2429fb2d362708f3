/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks in reports; nothing if there are none. Pure; main thread. */
#ifndef SRC_EXPORT_MARKS_H
#define SRC_EXPORT_MARKS_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* A table of the changes between each mark and the one before it, and since the last one. */
void marks_text(struct strbuf *out, const struct snapshot *s);
/* One line: the changes at the site since the mark in s->since. */
void marks_text_site(struct strbuf *out, const struct snapshot *s, const struct snap_site *site);
/* The members "marks" of the report and "since" of a site. */
void marks_json(struct writer *w, const struct snapshot *s);
void marks_json_site(struct writer *w, const struct snapshot *s, const struct snap_site *site);

#endif
