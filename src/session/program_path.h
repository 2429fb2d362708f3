/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name by which a program was started, where its file has several: /usr/bin/redis-server is a
 * link to redis-check-rdb, and the kernel reports only the latter. Reads the file system. Main
 * thread.
 */
#ifndef SRC_SESSION_PROGRAM_PATH_H
#define SRC_SESSION_PROGRAM_PATH_H

#include <stddef.h>

/*
 * A path to the file `exe` with the name that `argv0` has: itself if it is absolute, or that name
 * in exe's folder. To be freed. NULL: that is no other name of this very file, or out of memory. A
 * title that the program gave itself ("nginx: worker") counts up to its first blank or colon.
 */
char *program_path_started(const char *exe, const char *argv0);

#endif
