/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Grouping of the site table: what its rows sum up, and the sites of one group. Main thread.
 */
#ifndef TUI_GROUP_H
#define TUI_GROUP_H

#include "tui/ui.h"

/* Keys. */
void group_ask(struct ui *ui, int arg, int key); /* the next key chooses (group_choose) */

/* What `key` chooses after group_ask. False: it is no choice, and means what it does otherwise. */
bool group_choose(struct ui *ui, int key);
void group_set(struct ui *ui, enum group_by by);
/* Shows the sites of the selected row. False: it is a site. */
bool group_enter(struct ui *ui);
/* Back to the groups. False: they are what is seen. */
bool group_leave(struct ui *ui);
/* The choices, for the message line. */
const char *group_choices(void);
/* "callers of 12 sites in ..." for the line of tabs. */
void group_facts(const struct ui *ui, struct infoline *s);

#endif
