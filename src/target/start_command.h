/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line that starts a running program again, under heaptop. Main thread. */
#ifndef SRC_TARGET_START_COMMAND_H
#define SRC_TARGET_START_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

/*
 * "heaptop -- /usr/sbin/nginx -g 'daemon off;'": quoted for a shell, without control bytes. The
 * program by its path where its first argument does not lead to it, or was rewritten. 0, or -errno:
 * it cannot be read, -E2BIG: it does not fit.
 */
int start_command(pid_t pid, char *out, size_t cap);
/* `n` bytes as one word of a shell: as they are, in single quotes, or as $'...' with octal numbers
 * for bytes that a terminal must not get. Returns the bytes written; 0: they do not fit. */
size_t start_command_quote(char *out, size_t cap, const char *word, size_t n);

#endif
