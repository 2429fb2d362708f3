/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a source file by its name in the debug information, and reads it. The name is untrusted, so
 * only regular files are opened, and only up to a limit is read. Any thread; may wait for a disk.
 */
#ifndef SRC_SOURCE_SOURCE_FILE_H
#define SRC_SOURCE_SOURCE_FILE_H

#include "src/model/source_text.h"

#define SOURCE_FILE_BYTES_MAX (16u << 20) /* sqlite3.c, the largest common one, has 9 MB */
#define SOURCE_FILE_LINE_MAX  1000u /* bytes kept of a line */
#define SOURCE_FILE_DIRS_MAX  32u

/* The directories of --source-path, in their order. */
struct source_file_dirs {
	const char *dir[SOURCE_FILE_DIRS_MAX]; /* owned */
	unsigned count;
};

/* Adds the directories of "DIR:DIR". 0, -EINVAL: one is empty, -E2BIG, -ENOMEM. */
int source_file_dirs_add(struct source_file_dirs *d, const char *list);
void source_file_dirs_free(struct source_file_dirs *d);

/*
 * Finds `file`, a path from DWARF, which has the compiler's directory in front if it was relative,
 * in these places:
 *
 *   - as it stands (a relative one from the current directory);
 *   - in each directory of `dirs`: the whole path below it, then the path without its first
 *     component, and so on. So a directory may stand for the one that was compiled in, or for the
 *     root of the build machine;
 *   - its last component in the current directory.
 *
 * Reads the first that is a regular file. `object`: path of the object file, to compare ages, or
 * NULL. NULL: out of memory.
 */
struct source_text *source_file_read(
	const char *file, const char *object, const struct source_file_dirs *dirs);
void source_file_free(struct source_text *t);

#endif
