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
/*
 * A suppression that matches leaks of these kinds ("definite,possible") from there: of stacks that
 * begin with so many of its frames, down to main at most. By file and line where they are known and
 * `lines` is set, else by function or object.
 */
struct suppression {
	const char *name, *kinds;
	uint32_t frames;
	bool lines;
};
void suppression_text(
	struct strbuf *out, const struct snap_site *site, const struct suppression *how);
/* What a leak scan found, if one was asked for. */
void leaks_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);

#endif
