/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen without a terminal: keys come from a file, and what would be seen is written as text.
 * For tests and for pictures in documents. Main thread.
 */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include <stddef.h>
#include "tui/tui.h"

#define SCRIPT_WHY_MAX 256

struct script;

/*
 * Reads a script and understands all of it. The caller frees it. NULL and one line in `why`, with
 * the number of the script's line that is wrong.
 */
struct script *script_load(const char *path, char why[SCRIPT_WHY_MAX]);
void script_free(struct script *s);
/*
 * Runs it to its end, or until a key of it quits, or options->frames. Time is the source's: where
 * that has no descriptors to wait for, each frame comes at once. As tui_run: 0, -ENOTTY when curses
 * cannot be had, -EINTR on a signal; and -ECANCELED with `why` when a line of it cannot be done.
 */
int script_run(const struct script *s, const struct tui_source *source,
	const struct tui_options *options, int *signal, char why[SCRIPT_WHY_MAX]);
/* The key that `name` stands for ("Enter", "^L", "S-Tab", "j"), or -1. */
int script_key(const char *name);

#endif
