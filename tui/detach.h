/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaving a program that heaptop attached to: key D, and what q asks then. Main thread. */
#ifndef TUI_DETACH_H
#define TUI_DETACH_H

#include "tui/ui.h"

/* Key D: asks, and at once again detaches. */
void detach_key(struct ui *ui, int arg, int key);
/* Is there a recording that D ends? */
bool detach_can(const struct ui *ui);
/* Key q: true if the user must say first what becomes of the recording. */
bool detach_asks(struct ui *ui);
/* The answer: true if the key was one. Every other key withdraws the questions. */
bool detach_answer(struct ui *ui, int key);

#endif
