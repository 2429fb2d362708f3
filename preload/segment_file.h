/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segment files: whether one is ours, and removal. At start and end; errno may change. */
#ifndef PRELOAD_SEGMENT_FILE_H
#define PRELOAD_SEGMENT_FILE_H

#include <stdbool.h>

/* Whether only our user can have made an open file. */
bool segment_file_is_ours(int fd);
/* Removes our segment unless a viewer has it open. */
void segment_file_remove(const char *path);

#endif
