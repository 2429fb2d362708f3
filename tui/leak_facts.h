/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scan's progress, or how the last one went, for the line of tabs. Main thread. */
#ifndef TUI_LEAK_FACTS_H
#define TUI_LEAK_FACTS_H

#include "src/model/leaks.h"
#include "tui/ui.h"

/* Is a scan in progress that was not cancelled? */
bool leak_facts_is_scanning(const struct leaks *l);
void leak_facts_add(const struct ui *ui, struct infoline *s);

#endif
