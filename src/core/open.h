/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a core file (core.h). Any thread. */
#ifndef SRC_CORE_OPEN_H
#define SRC_CORE_OPEN_H

#include "src/core/core.h"

/* Whether a file is a core, or a compressed file that may be one. */
bool core_is(const char *path);
/* NULL, and one line in `message` (CORE_MESSAGE_MAX): what failed and why. */
struct core *core_open(const char *path, char *message);
void core_close(struct core *c);

#endif
