/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting text into the clipboard of the terminal with the control sequence OSC 52 of xterm (its
 * "Manipulate Selection Data", XTerm Control Sequences), which crosses ssh. No terminal says
 * whether it took it. Pure.
 */
#ifndef TUI_CLIP_H
#define TUI_CLIP_H

#include "src/model/snapshot.h"
#include "src/util/strbuf.h"

#define CLIP_BYTES_MAX 49152u /* 64 KB in base64: some terminals drop longer sequences whole */

struct clip_result {
	uint32_t frames; /* of the stack that are in it */
	size_t bytes; /* of text */
};

/* What takes the bytes, and how they are passed through it. */
enum clip_way { CLIP_TERMINAL, CLIP_TMUX, CLIP_SCREEN };

/* By TERM and by TMUX, which tmux sets; either may be NULL. */
enum clip_way clip_way(const char *term, const char *tmux);
/* Why a terminal of this type takes no clipboard; NULL: it may. */
const char *clip_refusal(const char *term);
/* A site's stack as text, one frame a line. */
struct clip_result clip_text(struct strbuf *out, const struct snap_site *site);
/* The bytes that put it into the clipboard. */
struct clip_result clip_stack(struct strbuf *out, const struct snap_site *site, enum clip_way way);

#endif
