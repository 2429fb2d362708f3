/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of the Leaks: those of the kinds that are chosen, in the order that is chosen, and which
 * one is selected. They belong to the last scan's result, and are made anew when there is another.
 * Main thread.
 */
#ifndef TUI_LEAKLIST_H
#define TUI_LEAKLIST_H

#include "tui/ui.h"

enum { BY_KIND, BY_BYTES, BY_BLOCKS, BY_BEHIND, BY_OLDEST, BY_SINCE, BY_CONFIDENCE, BY_SITE };

#define LEAKLIST_CHOICES 7 /* of kinds */

/* What K chose. Static. */
const char *leaklist_choice(const struct ui *ui);
const struct leaks *leaklist_state(const struct ui *ui);
/* Bytes more than by the scan before. */
double leaklist_since(const struct snap_leak_site *l);
void leaklist_select_cursor(struct ui *ui);

#endif
