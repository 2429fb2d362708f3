/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the user's editor on a file. Main thread. */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include <stdint.h>
#include <sys/types.h>

/* $VISUAL, else $EDITOR; NULL if both are unset or empty. */
const char *editor_name(void);
/*
 * Starts `editor` through the shell, so it may have arguments, and appends "+LINE PATH". The two
 * descriptors are its terminal. The recording library is not preloaded into it. Returns its pid, or
 * -errno.
 */
pid_t editor_start(const char *editor, const char *path, uint32_t line, int in, int out);

#endif
