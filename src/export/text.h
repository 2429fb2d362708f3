/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of reports share. Pure: into a string buffer. */
#ifndef SRC_EXPORT_TEXT_H
#define SRC_EXPORT_TEXT_H

#include "src/export/export.h"

/* What holds for the part of a report that is of the process's child `i`. */
struct export_options export_below(const struct export_options *o, size_t i);
/* Who allocated: the function, then the stack, a line each. */
void text_stack(struct strbuf *out, const struct snap_site *site, const struct export_options *o);
/* The call sites, those first that the options choose. */
void text_sites(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* A suppression that matches leaks of the class from there. */
void suppression_text(struct strbuf *out, const struct snap_site *site, enum snap_leak_class class);
/* What a leak scan found, if one was asked for. */
void leaks_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);

#endif
