/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding a source file by the name that the debug information has, and reading it. The name is
 * somebody else's word, so only regular files are opened, and no more of them is read than a limit.
 * Any thread; may wait for a disk.
 */
#ifndef SRC_SOURCE_SOURCE_FILE_H
#define SRC_SOURCE_SOURCE_FILE_H

#include "src/model/sourcetext.h"

#define SOURCE_FILE_BYTES_MAX (16u << 20) /* sqlite3.c, the longest that people meet, has 9 MB */
#define SOURCE_FILE_LINE_MAX  1000u /* bytes of a line that are kept */
#define SOURCE_FILE_DIRS_MAX  32u

/* Where to look: the directories of --source-path, in their order. */
struct source_file_dirs {
	const char *dir[SOURCE_FILE_DIRS_MAX]; /* owned */
	unsigned count;
};

/* Adds those of "DIR:DIR". 0, -EINVAL: an empty one, -E2BIG, -ENOMEM. */
int source_file_dirs_add(struct source_file_dirs *d, const char *list);
void source_file_dirs_free(struct source_file_dirs *d);

/*
 * Looks for `file`, which is a path as DWARF tells it, with the compiler's directory before it
 * where it was relative:
 *
 *   - as it stands (a relative one from the current directory);
 *   - in each directory of `dirs`: the whole path below it, then without its first directory, and
 * so on to the last component. So a directory stands for the one that was compiled in, or for the
 *     root of the machine where that was;
 *   - its last component in the current directory.
 *
 * The first that is a regular file is read. `object`: path of the object file, for its age, or
 * NULL. NULL: no memory.
 */
struct source_text *source_file_read(
	const char *file, const char *object, const struct source_file_dirs *dirs);
void source_file_free(struct source_text *t);

#endif
