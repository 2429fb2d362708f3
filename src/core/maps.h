/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mappings of a core's process, as /proc/PID/maps would show them. Any thread. */
#ifndef SRC_CORE_MAPS_H
#define SRC_CORE_MAPS_H

#include "src/core/core.h"

/*
 * The text, which the caller frees; *len without its NUL. A core of heaptop's has it; otherwise it
 * is made: a core does not say which memory is shared, the heap or the stack, so that is taken from
 * paths, the auxiliary vector and the program's headers. Devices and inodes are made up: files
 * differ in them as they did. NULL: out of memory.
 */
char *core_maps_text(const struct core *c, size_t *len);
/* The same as /proc/PID/smaps: what the core has is resident. */
char *core_maps_smaps(const struct core *c, size_t *len);

#endif
