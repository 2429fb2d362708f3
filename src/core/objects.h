/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mapped files of a core on this machine, opened if they are the same files that were mapped.
 */
#ifndef SRC_CORE_OBJECTS_H
#define SRC_CORE_OBJECTS_H

#include "src/core/core.h"

/* Opens the file of each path. 0 or -ENOMEM. */
int core_objects_open(struct core *c);
void core_objects_close(struct core *c);
/* Whether a path is that of a segment, which is never read as memory. */
bool core_objects_is_account(const char *path);
/* Whether the part of the file at `offset` is executable, as its program headers say. */
bool core_objects_is_code(const struct core *c, const struct core_file *f);

#endif
