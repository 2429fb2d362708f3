/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments as files: whether one is ours, and removing it. At start and end; errno may change. */
#ifndef PRELOAD_SEGMENT_FILE_H
#define PRELOAD_SEGMENT_FILE_H

#include <stdbool.h>

/* Whether an open file is one that only our user can have made. */
bool segment_file_is_ours(int fd);
/* Removes a segment of ours unless a viewer has it open. */
void segment_file_remove(const char *path);

#endif
