/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting the user's editor on a file. Main thread. */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include <stdint.h>
#include <sys/types.h>

/* $VISUAL, else $EDITOR; NULL: neither says anything. */
const char *editor_name(void);
/*
 * Starts `editor`, which may have arguments, as the shell reads it, with "+LINE PATH" behind them
 * and the two descriptors as its terminal. The recording library is not preloaded into it. Its pid,
 * or -errno.
 */
pid_t editor_start(const char *editor, const char *path, uint32_t line, int in, int out);

#endif
