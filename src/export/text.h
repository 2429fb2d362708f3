/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that parts of reports share. Pure: they write into a string buffer. */
#ifndef SRC_EXPORT_TEXT_H
#define SRC_EXPORT_TEXT_H

#include "src/export/export.h"

/* The options for the part of a report about child `i` of the process. */
struct export_options export_child_options(const struct export_options *o, size_t i);
/* The allocating function, then the stack, one line each. */
void text_stack(struct strbuf *out, const struct snap_site *site, const struct export_options *o);
/* The call sites, in the order of the options. */
void text_sites(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/*
 * A suppression that matches leaks of these kinds ("definite,possible") of a site: stacks that
 * begin with this number of its frames, down to main at most. By file and line if `lines` is set
 * and they are known, otherwise by function or object file.
 */
struct suppression {
	const char *name, *kinds;
	uint32_t frames;
	bool lines;
};
void suppression_text(
	struct strbuf *out, const struct snap_site *site, const struct suppression *how);
/* Wrong frees, `top` at most, with both stacks of each; nothing if there are none. */
void wrong_frees_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The result of a leak scan, if one was requested. */
void leaks_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);

#endif
