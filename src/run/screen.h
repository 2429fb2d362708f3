/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that the screen shows: the one that a run watches, or another one that the user went
 * to (src/run/process_list.h), and what is done to it. `run` is a struct run, as the screen has it
 * (struct tui_source). Main thread.
 */
#ifndef SRC_RUN_SCREEN_H
#define SRC_RUN_SCREEN_H

#include "src/run/run.h"

/* See struct tui_source: processes, process_show, mark, mark_name, since, source_text and _forget.
 */
size_t screen_actions_list(void *run, const struct process_row **rows, size_t *more);
int screen_actions_go(void *run, uint64_t process, char *msg, size_t cap);
int screen_actions_mark(void *run, char *msg, size_t cap);
void screen_actions_mark_name(void *run, unsigned number, const char *name);
void screen_actions_since(void *run, unsigned since, unsigned until);
const struct source_text *screen_actions_source_text(void *run, const struct frame *f);
void screen_actions_source_forget(void *run);

#endif
