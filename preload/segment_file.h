/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segment files: whether one is ours, core dumps, and removal. At start and end; errno may change.
 */
#ifndef PRELOAD_SEGMENT_FILE_H
#define PRELOAD_SEGMENT_FILE_H

#include <stdbool.h>

#include "shm/segment_types.h"

/* Whether only our user can have made an open file. */
bool segment_file_is_ours(int fd);
/* Removes our segment unless a viewer has it open. */
void segment_file_remove(const char *path);
/* Has the kernel put the committed part of a segment into core dumps, if HEAPTOP_CORE=1. Without
 * the address space for that it does nothing. At start, while nothing is recorded. */
void segment_file_dump(struct segment *s, int fd);

#endif
