/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts text into the terminal's clipboard with xterm's control sequence OSC 52 ("Manipulate
 * Selection Data", XTerm Control Sequences), which also works over ssh. No terminal reports whether
 * it accepted the text. Pure.
 */
#ifndef TUI_CLIPBOARD_H
#define TUI_CLIPBOARD_H

#include "src/model/snapshot.h"
#include "src/util/strbuf.h"

#define CLIPBOARD_BYTES_MAX 49152u /* 64 KB in base64; some terminals drop more */

struct clipboard_result {
	uint32_t frames; /* frames of the stack that fit */
	size_t bytes; /* of text */
};

/* What receives the bytes, and so how they are wrapped. */
enum clipboard_target { CLIPBOARD_TERMINAL, CLIPBOARD_TMUX, CLIPBOARD_SCREEN };

/* `term` and `tmux` are the variables TERM and TMUX; either may be NULL. */
enum clipboard_target clipboard_target(const char *term, const char *tmux);
/* Why a terminal of this type supports no clipboard, or NULL if it may. */
const char *clipboard_unsupported(const char *term);
/* A site's stack as text, one frame a line. */
struct clipboard_result clipboard_text(struct strbuf *out, const struct snap_site *site);
/* The control sequence that puts this text into the clipboard. */
struct clipboard_result clipboard_encode(
	struct strbuf *out, const struct snap_site *site, enum clipboard_target way);

#endif
