/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A segment's name is heaptop-PID-STARTTIME-GENERATION, with .NAMESPACE after a PID of a container:
 * processes of two containers may have the same number and start time. The generation counts the
 * images of one process, since exec keeps pid and start time. At start; errno may change.
 */
#ifndef PRELOAD_SEGMENT_NAME_H
#define PRELOAD_SEGMENT_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "shm/segment.h"

/* The decimal number that a text begins with, or 0. */
uint64_t segment_name_number(const char *text);
/* Copies a path, cut to `cap` bytes with its terminator. */
void segment_name_copy(char *out, size_t cap, const char *path);
/* The path of the segment of this generation in `dir`. */
void segment_name_of(char *out, size_t cap, const char *dir, const struct segment_identity *id,
	uint32_t generation);
/* The generation of this image: one more than that of the newest segment in `dir` of the process's
 * earlier images. Trying names from 0 on would hit a gap where an older one was removed. */
uint32_t segment_name_generation(const char *dir, const struct segment_identity *id);

#endif
