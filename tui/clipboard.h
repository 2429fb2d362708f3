/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting text into the clipboard of the terminal with the control sequence OSC 52 of xterm (its
 * "Manipulate Selection Data", XTerm Control Sequences), which crosses ssh. No terminal says
 * whether it took it. Pure.
 */
#ifndef TUI_CLIPBOARD_H
#define TUI_CLIPBOARD_H

#include "src/model/snapshot.h"
#include "src/util/strbuf.h"

#define CLIPBOARD_BYTES_MAX                                                                        \
	49152u /* 64 KB in base64: some terminals drop longer sequences whole                      \
		*/

struct clipboard_result {
	uint32_t frames; /* of the stack that are in it */
	size_t bytes; /* of text */
};

/* What takes the bytes, and how they are passed through it. */
enum clipboard_target { CLIPBOARD_TERMINAL, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };

/* By TERM and by TMUX, which tmux sets; either may be NULL. */
enum clipboard_target clipboard_target(const char *term, const char *tmux);
/* Why a terminal of this type takes no clipboard; NULL: it may. */
const char *clipboard_unsupported(const char *term);
/* A site's stack as text, one frame a line. */
struct clipboard_result clipboard_text(struct strbuf *out, const struct snap_site *site);
/* The bytes that put it into the clipboard. */
struct clipboard_result clipboard_encode(
	struct strbuf *out, const struct snap_site *site, enum clipboard_target way);

#endif
