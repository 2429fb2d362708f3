/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts about the moment on the screen: which one it is, and which keys leave it. Main thread. */
#ifndef TUI_MOMENT_WORDS_H
#define TUI_MOMENT_WORDS_H

#include "tui/ui.h"

#define MOMENT_WORDS_MAX 96

/* A time as header_clock writes it, with tenths where several ticks are in its second, or in that
 * of an end of the range that is shown. */
const char *moment_words_clock(const struct ui *ui, uint64_t ns, char buf[UNITS_MAX]);
/* "PAST 0:11 of 2:30": what the rows show; "" for now. */
const char *moment_words_badge(const struct ui *ui, char buf[MOMENT_WORDS_MAX]);
/* One line on the moment and the keys that leave it; "" for now. */
void moment_words_idle(struct ui *ui, char *text, size_t cap);
/* Why the view in front cannot show this moment; NULL: it can. */
const char *moment_words_refusal(const struct ui *ui);

#endif
