/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Grouping of the site table: the choice of a grouping, and the sites of one group. Main thread.
 */
#ifndef TUI_GROUP_H
#define TUI_GROUP_H

#include "tui/ui.h"

/* Keys. */
void group_ask(struct ui *ui, int arg, int key); /* the next key chooses (group_choose) */

/* Handles the key after group_ask. False: it is not a choice, and keeps its usual meaning. */
bool group_choose(struct ui *ui, int key);
void group_set(struct ui *ui, enum group_by by);
/* Shows the sites of the selected row. False: the row is a site itself. */
bool group_enter(struct ui *ui);
/* Returns to the groups. False: no group is open. */
bool group_leave(struct ui *ui);
/* The choices, for the message line. */
const char *group_choices(void);
/* The grouping, for the line of tabs. */
void group_facts(const struct ui *ui, struct infoline *s);

#endif
