/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a segment is that of a core's process. */
#ifndef SRC_CORE_AGREE_H
#define SRC_CORE_AGREE_H

#include "src/core/core.h"

/* 0, or -errno and one line in `message` (CORE_MESSAGE_MAX) that says what does not agree. */
int core_agree_check(const struct core *c, const char *segment, char *message);

#endif
