/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a new recording, of either kind: a regular file that one recorder writes at a time.
 */
#ifndef SRC_RECORD_NEW_FILE_H
#define SRC_RECORD_NEW_FILE_H

#include <stddef.h>

/*
 * Creates `path` (0600), or empties the regular file there, for reading and writing. Locked (flock)
 * while it is open. Never waits. -EINVAL: it is no regular file; -EWOULDBLOCK: another recorder
 * writes to it; -EEXIST: it is a segment, which a program may be writing to; or -errno.
 */
int new_file_open(const char *path);
/* One line in `message`: why that failed. */
void new_file_failed(const char *path, int rc, char *message, size_t room);

#endif
