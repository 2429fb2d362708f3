/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen without a terminal: keys come from a file, and the screen is written as text. For
 * tests and for pictures in documents. Main thread.
 */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include <stddef.h>
#include "tui/tui.h"

#define SCRIPT_WHY_MAX 256

struct script;

/*
 * Reads and parses a script; the caller frees it. On failure NULL and one line in `why`, with the
 * number of the wrong line.
 */
struct script *script_load(const char *path, char why[SCRIPT_WHY_MAX]);
void script_free(struct script *s);
/*
 * Runs it to its end, until a key of it quits, or for options->frames. If the source has no
 * descriptors to wait for, each frame comes at once. Returns, like tui_run, 0, -ENOTTY if curses
 * cannot start, -EINTR on a signal; and -ECANCELED with `why` if a line of it fails.
 */
int script_run(const struct script *s, const struct tui_source *source,
	const struct tui_options *options, int *signal, char why[SCRIPT_WHY_MAX]);
/* The key that `name` stands for ("Enter", "^L", "S-Tab", "j"), or -1. */
int script_key(const char *name);

#endif
