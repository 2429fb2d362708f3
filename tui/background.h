/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the terminal's background is dark or light: from its answer to OSC 11, or COLORFGBG.
 * Main thread.
 */
#ifndef TUI_BACKGROUND_H
#define TUI_BACKGROUND_H

#include "tui/draw.h"

/*
 * Asks the open terminal, and waits for its answer for a tenth of a second at most. Keys that were
 * typed meanwhile are not lost. DRAW_UNKNOWN: it did not say.
 */
enum draw_background background_ask(void);
/* What an answer says, anywhere in the text: "]11;rgb:ffff/ffff/ffff". */
enum draw_background background_parse(const char *text);
/* What COLORFGBG says, "15;0"; NULL: it is not set. */
enum draw_background background_of_colorfgbg(const char *value);

#endif
